// Drawing on a window's draw list: text on a baseline, layer tags, strips, list rows, buttons, a virtual list.
// Positions are pixels on the screen; sizes given as units go through theme::u(). A Pen lives for one draw().
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "views/theme.h"

namespace peel::views {

struct Area {
  float x, y, w, h;
  float right() const { return x + w; }
  float bottom() const { return y + h; }
};
/// The inside of the current ImGui window, less the panel's padding.
Area panel_area();

/// A stretch of text in one type and colour; a list of them is a rich line.
struct Run {
  theme::Type type;
  unsigned rgb;
  std::string text;
};

/// What the mouse did to a place this frame.
struct Hit {
  bool clicked = false, double_clicked = false, right_clicked = false, hovered = false, held = false;
  explicit operator bool() const { return clicked; }
};
/// Makes a rectangle answer to the mouse. `id` names it within the window (GUI tests find it by that name).
Hit hit(const char* id, float x, float y, float w, float h);
Hit hit(const char* id, const Area&);
/// One line beside the mouse while the last hit is hovered.
void tip(const Hit&, std::string_view text);

/// The letters of a layer in a strip.
struct StripLayer {
  std::string_view key;  // name of a dispatch key
  theme::Mark mark;
  int column;            // from the left; see strip_columns in trace_model
};

class Pen {
 public:
  Pen() : dl(ImGui::GetWindowDrawList()) {}
  explicit Pen(ImDrawList* list) : dl(list) {}
  ImDrawList* dl;

  // ---- text: `base` is the baseline, see base_of(). All return the width drawn.
  float text(theme::Type, float x, float base, unsigned rgb, std::string_view) const;
  float text_right(theme::Type, float right, float base, unsigned rgb, std::string_view) const;
  /// Cut to `w` with an ellipsis; nothing when not even that fits.
  float text_cut(theme::Type, float x, float base, float w, unsigned rgb, std::string_view) const;
  float note(float x, float base, std::string_view) const;  // kSmall, faint
  float note_right(float right, float base, std::string_view) const;
  /// Mixed types on one baseline.
  float rich(float x, float base, const std::vector<Run>&) const;
  /// The same, wrapped at spaces into `w`. Returns the number of lines (>= 1); `draw` false only measures.
  int rich_wrapped(float x, float base, float w, float line_height, const std::vector<Run>&, bool draw = true) const;

  // ---- shapes
  void fill(float x, float y, float w, float h, ImU32, float radius = 0) const;
  void frame(float x, float y, float w, float h, ImU32, float radius = 0) const;
  void hline(float x, float y, float w, ImU32) const;
  void vline(float x, float y, float h, ImU32) const;
  void dash(float x0, float y0, float x1, float y1, ImU32, float on = 3, float off = 2.5f, float thick = 1) const;
  void dash_frame(float x, float y, float w, float h, ImU32, float on = 3, float off = 2.5f) const;
  void caret(float x, float cy, bool open, ImU32) const;         // 8 units wide
  void diamond(float cx, float cy, float r, ImU32, bool solid) const;  // a node: solid = made here, hollow = inside
  void dot(float cx, float cy, float r, ImU32) const;

  // ---- layers
  /// The tag of a layer: hue = family, letters = key, line style = verdict. kTagW units wide.
  void tag(float x, float cy, std::string_view key, theme::Mark) const;
  void strip(float x, float cy, const std::vector<StripLayer>&) const;
  /// "◆ ReluBackward0" or "◇ 2 inside".
  float node_made(float x, float cy, std::string_view node, uint32_t inside, bool strong) const;

  // ---- parts of a panel
  void section(float x, float y, float w, std::string_view left, std::string_view right = "") const;  // 20 units high
  /// Background of a selected row, with its bar at the panel's left edge.
  void selected_row(const Area& panel, float y, float h, bool focused = true) const;
  void hovered_row(const Area& panel, float y, float h) const;
  /// left word, text at `at` units, right note, hairline below. `h` in pixels.
  void list_row(float x, float y, float w, float h, std::string_view left, float at, theme::Type, std::string_view text,
                std::string_view right) const;
  /// Lines in the middle of an empty panel: what it is, what to do.
  void empty(const Area&, std::string_view title, std::string_view what_to_do) const;
  /// A thin bar with the share done (0..1, below 0: unknown).
  void progress(float x, float y, float w, float share) const;

  // ---- things to press
  /// A button of kButton units height; `key` is its key, shown faint. Returns its width with the gap behind it.
  float button(const char* id, float x, float y, std::string_view label, std::string_view key, Hit*, bool strong = false,
               bool enabled = true) const;
  static float button_width(std::string_view label, std::string_view key, bool strong = false);
  /// A pill that leads somewhere; `right` false: x is its left edge. Returns its width.
  float chip(const char* id, float x, float cy, std::string_view text, Hit*) const;
  /// Underlined words. Returns their width.
  float link(const char* id, float x, float base, std::string_view, Hit*) const;
};

float text_width(theme::Type, std::string_view);
/// Baseline of text in the middle of a row that starts at y and is h high (pixels).
float base_of(float y, float h);
/// The text or its beginning with an ellipsis, not wider than w pixels.
std::string cut_text(theme::Type, std::string_view, float w);

/// "9.1", "34", "1.2 ms": a duration for a column whose head says µs when `unit` is false.
std::string microseconds(Nanoseconds, bool unit = false);
/// 4812 -> "4,812"
std::string count(uint64_t);
/// "1 hop", "42 hops"
std::string counted(uint64_t, std::string_view one, std::string_view many);

/// A list of any length with rows of one height: position is a 64-bit row plus pixels, as ImGui's float
/// positions break near a million rows. Use: `if (list.begin(...)) for (r = list.first(); r < list.end_row(); r++)
/// draw at list.y(r); list.end();`
class VirtualList {
 public:
  /// Opens a clipped child window over `area`, takes the wheel and the bar's drag. `row_height` in pixels.
  void begin(const char* id, const Area& area, int64_t rows, float row_height);
  int64_t first() const { return first_; }
  int64_t end_row() const { return end_; }
  float y(int64_t row) const;
  void end();
  /// Brings the row into sight at the next begin, moving as little as possible (centred when far away).
  void reveal(int64_t row) { reveal_ = row; }
  void to_bottom() { to_bottom_ = true; }
  bool at_bottom() const { return at_bottom_; }
  int64_t visible_rows() const { return page_; }
  /// How many rows the commands list.up to list.last go; none: another command.
  std::optional<int64_t> step(std::string_view command) const;
  /// The row that such a command leads to from `here` (-1 = no row) in a list of `rows` rows.
  std::optional<int64_t> row_after(std::string_view command, int64_t here, size_t rows) const;
  /// Rows were inserted (or removed, negative) above the first visible one: keep what is seen in its place.
  void shift(int64_t by);
  void set_top(int64_t row) { top_ = row, pixel_ = 0; }
  int64_t top() const { return top_; }

 private:
  void scroll(double pixels);
  Area area_{};
  int64_t rows_ = 0, top_ = 0, first_ = 0, end_ = 0, page_ = 0, reveal_ = -1;
  float row_ = 1, pixel_ = 0;  // pixels of row `top_` that are above the area
  float grab_ = 0;
  bool to_bottom_ = false, at_bottom_ = true, dragging_ = false;
};

}  // namespace peel::views
