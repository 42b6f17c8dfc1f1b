#include "views/findings.h"

#include <algorithm>

#include "views/background.h"
#include "views/findings_model.h"
#include "views/pen.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kRowHeight = 27, kWordWidth = 64;

class FindingsPanel : public Panel {
 public:
  const char* title() const override { return "Findings"; }
  const char* help() const override { return "What to look at: exceptions, missing kernels, where gradients stop, saved tensors that were written, what was lost, bookmarks, notes."; }
  void session_changed(Context&) override {
    work_.stop();
    found_ = {}, asked_ = 0, have_ = false, at_ = {};
  }
  bool busy() const override { return work_.busy(); }
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override { return at_.row < found_.rows.size() ? line(found_.rows[at_.row]) : all_lines(); }
  void draw(Context&) override;

 private:
  static std::string line(const Finding&);
  std::string all_lines() const;
  void follow(Context&, size_t row);
  void refresh(const Context&);
  void draw_row(Context&, const Pen&, const Area&, float y, size_t index);

  Background<Findings> work_;
  Findings found_;
  uint64_t asked_ = 0;
  double asked_at_ = 0;
  bool have_ = false;
  VirtualList list_;
  struct { size_t row = SIZE_MAX, next = 0; } at_;  // a second click on a grouped row goes to its next hop
};

void FindingsPanel::refresh(const Context& c) {
  if (auto fresh = work_.take()) found_ = std::move(*fresh), have_ = true, at_ = {};
  const uint64_t generation = c.session->generation();
  if (work_.busy() || (have_ && generation == asked_)) return;
  if (have_ && found_.complete) {  // nothing but bookmarks and notes can change
    asked_ = generation;
    refresh_notes(*c.session, found_);
    if (at_.row >= found_.rows.size()) at_ = {};
    return;
  }
  // while a recording grows: not more often than a tenth of the time
  const double wait = c.session->live() ? std::max(1.0, static_cast<double>(c.session->size()) * 1e-6) : .1;
  if (have_ && ImGui::GetTime() - asked_at_ < wait) return;
  asked_ = generation, asked_at_ = ImGui::GetTime();
  const Session* s = c.session;
  work_.start([s](const std::atomic<bool>& cancelled) {
    const Ask ask = [&](const std::string& sql) {
      QueryOptions o;
      o.cancel = &cancelled, o.limit_ms = 20000, o.max_rows = 1000;
      return query(s->path(), sql, o);
    };
    return find_all(*s, ask, cancelled);
  });
}

std::string FindingsPanel::line(const Finding& f) {
  return std::string(finding_word(f.kind)) + ": " + plain(f.sentence) + (f.count > 1 ? " x " + count_text(f.count) : "") +
         (f.event ? " (hop " + count_text(f.event.value) + ")" : "");
}

std::string FindingsPanel::all_lines() const {
  std::string s;
  for (const Finding& f : found_.rows) s += line(f) + "\n";
  return s;
}

/// Selects the hop of a row; of a row that stands for many, the next one each time.
void FindingsPanel::follow(Context& c, size_t row) {
  const Finding& f = found_.rows[row];
  at_.next = at_.row == row && !f.events.empty() ? (at_.next + 1) % f.events.size() : 0;
  at_.row = row;
  if (!f.events.empty()) c.select(f.events[at_.next]);
  if (f.tensor) c.tensor = f.tensor;  // its life is what the row is about
}

bool FindingsPanel::run(Context& c, std::string_view id) {
  if (found_.rows.empty()) return false;
  const size_t n = found_.rows.size(), here = at_.row < n ? at_.row : SIZE_MAX;
  const bool open = id == "list.open" && here != SIZE_MAX;
  const auto row = list_.row_after(id, here == SIZE_MAX ? -1 : static_cast<int64_t>(here), n);
  if (!row && !open) return false;
  const size_t to = open ? here : static_cast<size_t>(*row);
  if (to != here || open) follow(c, to);
  list_.reveal(static_cast<int64_t>(to));
  return true;
}

void FindingsPanel::draw_row(Context& c, const Pen& pen, const Area& a, float y, size_t index) {
  const auto& p = theme::palette();
  const Finding& f = found_.rows[index];
  const float h = u(kRowHeight) - 2;
  const Hit row = hit(("finding/" + std::to_string(index)).c_str(), a.x - u(6), y, a.w + u(12), h);
  const bool on = at_.row == index || (f.event && std::find(f.events.begin(), f.events.end(), c.selected) != f.events.end());
  if (on) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), h, theme::color(p.select)), pen.fill(a.x - u(theme::kPadX), y, u(3), h, theme::color(p.focus));
  else if (row.hovered && f.event) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), h, theme::color(p.hover));
  const float base = base_of(y, h);
  pen.text(Type::kSemiSmall, a.x, base, p.dim, finding_word(f.kind));
  std::string where = f.event ? "hop " + count_text(f.event.value) : "";
  if (f.count > 1) where = "x " + count_text(f.count) + (where.empty() ? "" : "  " + where);
  const float where_w = text_width(Type::kMonoSmall, where) + u(10);
  pen.text_right(Type::kMonoSmall, a.right(), base, p.dim, where);
  float x = a.x + u(kWordWidth);
  const float end = a.right() - where_w;
  for (const Part& part : f.sentence) {
    if (x >= end) break;
    const Type t = part.code ? Type::kMono : part.strong ? Type::kSemi : Type::kBody;
    x += pen.text_cut(t, x, base, end - x, part.faint ? p.dim : p.text, part.text);
  }
  pen.hline(a.x, y + h, a.w, theme::color(p.line));
  if (row.hovered) {
    std::string words = plain(f.sentence);
    if (!f.hover.empty() && f.hover != words) words += "\n" + f.hover;
    if (f.events.size() > 1) words += "\nClick again for the next of " + count_text(f.events.size()) + ".";
    tip(row, words);
  }
  if (ImGui::BeginPopupContextItem()) {
    if (ImGui::MenuItem("Copy")) ImGui::SetClipboardText(line(f).c_str());
    if (ImGui::MenuItem("Copy all")) ImGui::SetClipboardText(all_lines().c_str());
    ImGui::EndPopup();
  }
  if (row) follow(c, index);
}

void FindingsPanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; what stands out in it is listed here.");
  refresh(c);
  if (!have_) return pen.empty(a, "Looking through the hops", "Exceptions, missing kernels and places where gradients stop appear here.");
  const float foot = u(22);
  const Area list{a.x - u(theme::kPadX), a.y - u(2), a.w + 2 * u(theme::kPadX), std::max(u(kRowHeight), a.h - foot)};
  if (found_.rows.empty()) {
    pen.empty({a.x, a.y, a.w, a.h - foot}, "Nothing stands out", "No exception, no missing kernel, no gradient that stops. M sets a bookmark at the selected hop, Shift+M a note.");
  } else {
    list_.begin("findings", list, static_cast<int64_t>(found_.rows.size()), u(kRowHeight));
    const Pen inner;
    for (int64_t r = list_.first(); r < list_.end_row(); r++) draw_row(c, inner, {a.x, a.y, a.w, a.h}, list_.y(r), static_cast<size_t>(r));
    list_.end();
  }
  std::string summary = found_.summary();
  if (work_.busy()) summary += "; looking again…";
  pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(18), u(18)), a.w, theme::palette().faint, summary);
}

}  // namespace

std::unique_ptr<Panel> make_findings_panel() { return std::make_unique<FindingsPanel>(); }

}  // namespace peel::views
