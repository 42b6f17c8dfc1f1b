// How everything looks: palettes, families of dispatch keys, type sizes. Hue means the family of a layer and
// nothing else; verdict is a tag's outline; selection, focus, source, time and memory are neutral.
#pragma once
#include <cmath>
#include <string>
#include <string_view>

#include "imgui.h"
#include "sessions/why.h"

namespace peel::views::theme {

// ---- families
enum Family { kPython, kFunctorch, kAutocast, kAutograd, kView, kBackend, kFamilies };
struct FamilyStyle {
  const char* name;
  unsigned dark, light;  // 0xRRGGBB; >= 4.5:1 on every surface and on their own tint
};
const FamilyStyle& family(Family);

struct KeyStyle {
  const char* key;  // a name, or with '*' at its end a prefix; the first match wins
  const char* tag;  // two or three letters
  Family family;
  const char* gloss;
};
const KeyStyle& key_style(std::string_view key_name);

/// How a layer fared, as line style.
enum class Mark {
  kRan,        // solid fill
  kComposite,  // solid outline, tinted: a math kernel that only calls other operators
  kFell,       // dashed outline, a stroke down through it
  kExcluded,   // dashed outline, barred left and right
  kMasked,     // dotted outline (also: below)
  kAbsent      // a dot: not in the set
};
Mark mark_of(Verdict, bool composite = false);

// ---- colours
struct Palette {
  unsigned window, panel, raised, sunken, line, line_strong;  // surfaces and hairlines
  unsigned text, dim, faint;                                  // faint: >= 4.5:1 on panel and on a selected row
  unsigned select, hover, focus;                              // neutral: no family's hue
  unsigned on_family;                                         // text on a solid tag
};
const Palette& palette(bool dark);
const Palette& palette();  // the current one
bool dark();
unsigned hue(Family);  // in the current palette
inline unsigned hue_of(std::string_view key_name) { return hue(key_style(key_name).family); }
ImU32 color(unsigned rgb, float alpha = 1);
ImVec4 vec(unsigned rgb, float alpha = 1);

// ---- sizes, in units: a unit is a pixel at 100 %
constexpr float kPadX = 12, kPadY = 8, kGap = 6, kRow = 21, kIndent = 14, kRadius = 4;
constexpr float kTagW = 30, kTagH = 16, kTagGap = 3, kButton = 24;

float scale();
/// Units to whole pixels.
inline float u(float units) { return std::round(units * scale()); }

// ---- type
/// Every text is one of these: face and size. Whole sizes at 100 %: text is baked at them, not rescaled.
enum class Type : unsigned char {
  kUi,         // Inter 16: tabs, menus
  kBody,       // Inter 15
  kSmall,      // Inter 14: notes, column heads
  kLead,       // Inter 18: the sentence of a panel
  kSemi,       // Inter SemiBold 15
  kSemiSmall,  // Inter SemiBold 14: sections
  kSemiLead,   // Inter SemiBold 18
  kMono,       // JetBrains Mono 15: names from the program
  kMonoSmall,  // JetBrains Mono 13: numbers, shapes
  kBold,       // JetBrains Mono SemiBold 15
  kBoldSmall,  // JetBrains Mono SemiBold 13: letters of a tag
  kTitle       // JetBrains Mono SemiBold 16
};
ImFont* font(Type);
float font_size(Type);  // pixels, scale included

/// Loads Inter, JetBrains Mono and a fallback chain for Hangul, Han and Kana from the system into the current
/// ImGui context; what is missing is replaced by what there is, at worst by ImGui's built-in face. Once per
/// context, before its first frame.
void load_fonts();
/// What load_fonts found, one line each, for `peel doctor` and the About box.
std::string fonts_found();

/// Makes a palette and a scale (1 to 2) current and sets ImGui's style to match.
void apply(bool dark, float scale);

}  // namespace peel::views::theme
