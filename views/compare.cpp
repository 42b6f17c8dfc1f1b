#include "views/compare.h"

#include <algorithm>

#include "imgui.h"
#include "views/background.h"
#include "views/compare_draw.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr double kLiveSeconds = 3;  // a growing recording is compared anew so often at most
constexpr float kLeastList = 150, kLeastWhy = 170, kWhyShare = .48f;

struct Computed {
  CompareChoice choice;
  Diff diff;
  std::string headline;
};

class ComparePanel : public Panel {
 public:
  const char* title() const override { return "Compare"; }
  const char* help() const override { return "Two sessions or two spans of one, pair by pair: which layers, nodes and values differ, and why."; }
  void session_changed(Context&) override {
    work_.stop();
    model_.reset();
    list_ = VirtualList();
    cursor_ = SIZE_MAX, seen_changes_ = UINT64_MAX, seen_generation_ = 0, seen_selection_ = 0, checked_ = false, first_wanted_ = false, why_for_ = SIZE_MAX;
  }
  bool busy() const override { return work_.busy(); }
  void draw(Context&) override;
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;

 private:
  void refresh(Context&);
  void pick(Context&, size_t index);
  void move(Context&, int64_t by);
  void follow(Context&);
  bool go_difference(Context&, bool forward);
  float draw_top(Context&, const Pen&, const Area&);
  void draw_list(Context&, const Pen&, const Area&);
  void draw_whys(Context&, const Area&);
  void refresh_whys(Context&);
  size_t place() { return cursor_ == SIZE_MAX ? SIZE_MAX : model_.reveal(cursor_); }

  CompareModel model_;
  Background<Computed> work_;
  VirtualList list_;
  size_t cursor_ = SIZE_MAX;          // row of the diff
  uint64_t seen_changes_ = UINT64_MAX, seen_generation_ = 0, seen_selection_ = 0;
  double computed_at_ = -10;
  bool checked_ = false;              // looked for sides, whether there were any or not
  bool first_wanted_ = false;         // go to the first difference when it is there
  size_t why_for_ = SIZE_MAX;
  CompareWhy why_[2];
};

void ComparePanel::refresh(Context& c) {
  if (auto done = work_.take()) {
    checked_ = true;
    if (done->choice.ready()) {
      model_.set(std::move(done->choice), std::move(done->diff), done->headline);
      why_for_ = SIZE_MAX;
      if (cursor_ == SIZE_MAX || cursor_ >= model_.diff().rows.size()) cursor_ = SIZE_MAX;
      if (first_wanted_ || cursor_ == SIZE_MAX) {
        first_wanted_ = false;
        const size_t first = model_.diff().first();
        if (first != SIZE_MAX) pick(c, first);
      }
    } else {
      model_.reset();
    }
  }
  const auto ready = [](const Session* s) { return !s || s->progress().ready; };
  if (work_.busy() || !ready(c.session) || !ready(c.compare.other)) return;
  const uint64_t generation = c.session->generation() + (c.compare.other ? c.compare.other->generation() : 0);
  const bool chosen = seen_changes_ != c.compare.changes;
  const bool grown = seen_generation_ != generation;
  if (!chosen && (!grown || ImGui::GetTime() < computed_at_ + kLiveSeconds)) return;
  if (chosen) cursor_ = SIZE_MAX, first_wanted_ = true;
  seen_changes_ = c.compare.changes, seen_generation_ = generation, computed_at_ = ImGui::GetTime();
  work_.start([session = c.session, sets = c.compare](const std::atomic<bool>& cancelled) {
    Computed out{choose_sides(session, sets), {}, {}};
    if (!out.choice.ready()) return out;
    out.diff = diff(out.choice.side[0], out.choice.side[1], &cancelled);
    if (!cancelled) out.headline = diff_headline(out.choice.side[0], out.choice.side[1], out.diff);
    return out;
  });
}

/// Marks the row and shows its left call in all panels (the right one's, when both are of one session and there is no left).
void ComparePanel::pick(Context& c, size_t index) {
  cursor_ = index;
  const DiffRow& r = model_.diff().rows[index];
  if (r.left) c.select(r.left);
  else if (!c.compare.other && r.right) c.select(r.right);
  seen_selection_ = c.selection_changes;
  if (const size_t at = place(); at != SIZE_MAX) list_.reveal(static_cast<int64_t>(at));
}

// A selection made elsewhere moves the mark to the pair that holds it.
void ComparePanel::follow(Context& c) {
  if (seen_selection_ == c.selection_changes) return;
  seen_selection_ = c.selection_changes;
  if (!model_.filled() || !c.selected) return;
  size_t index = model_.find(0, c.selected);
  if (index == SIZE_MAX && !c.compare.other) index = model_.find(1, c.selected);
  if (index == SIZE_MAX) return;
  cursor_ = index;
  if (const size_t at = place(); at != SIZE_MAX) list_.reveal(static_cast<int64_t>(at));
}

bool ComparePanel::go_difference(Context& c, bool forward) {
  if (!model_.filled()) {
    c.notice = "Nothing is compared yet.";
    return false;
  }
  const Diff& d = model_.diff();
  const size_t to = cursor_ == SIZE_MAX ? d.first() : forward ? d.next(cursor_) : d.previous(cursor_);
  if (to != SIZE_MAX) pick(c, to);
  c.notice = to != SIZE_MAX ? "Difference " + count_text(model_.difference_number(to)) + " of " + count_text(model_.differences()) + "."
             : model_.differences() ? (forward ? "That was the last difference." : "That was the first difference.") : "There is no difference.";
  return true;
}

void ComparePanel::move(Context& c, int64_t by) {
  if (!model_.rows()) return;
  const size_t now = place();
  const auto to = static_cast<size_t>(std::clamp<int64_t>((now == SIZE_MAX ? 0 : static_cast<int64_t>(now)) + by, 0, static_cast<int64_t>(model_.rows()) - 1));
  pick(c, model_.row(to).index);
  list_.reveal(static_cast<int64_t>(to));
}

bool ComparePanel::run(Context& c, std::string_view id) {
  if (id == "compare.next" || id == "compare.previous") return go_difference(c, id == "compare.next");
  if (!model_.filled() || !model_.rows()) return false;
  const size_t now = place();
  if (const auto by = list_.step(id)) move(c, *by);
  else if (now == SIZE_MAX) return false;
  else if (id == "list.open") model_.set_expanded(now, !model_.row(now).expanded);
  else if (id == "list.right") {
    if (!model_.set_expanded(now, true) && model_.row(now).expanded) move(c, 1);
  } else if (id == "list.left") {
    if (model_.row(now).expanded) model_.set_expanded(now, false);
    else if (const size_t up = model_.parent(now); up != SIZE_MAX) pick(c, model_.row(up).index);
  } else {
    return false;
  }
  return true;
}

std::string ComparePanel::copy_text(Context&) {
  if (!model_.filled()) return "";
  std::string out;
  diff_text(model_.choice().side[0], model_.choice().side[1], model_.diff(), false, [&](std::string_view line) { out += std::string(line) + "\n"; });
  return out;
}

float ComparePanel::draw_top(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  float x = a.right();
  const bool any = model_.differences() > 0;
  Hit next, previous;
  x -= Pen::button_width("Previous", "Shift+N");
  pen.button("previous difference", x, a.y, "Previous", "Shift+N", &previous, false, any);
  x -= Pen::button_width("Next difference", "N") + u(2);
  pen.button("next difference", x, a.y, "Next difference", "N", &next, false, any);
  if (next) go_difference(c, true);
  if (previous) go_difference(c, false);
  std::vector<Run> runs;
  for (const Part& part : model_.headline()) runs.push_back({part.strong ? Type::kSemiLead : Type::kLead, p.text, part.text});
  const float room = x - a.x - u(16);
  const int lines = pen.rich_wrapped(a.x, base_of(a.y, u(24)), room, u(24), runs);
  float y = a.y + static_cast<float>(std::max(1, lines)) * u(24);
  const size_t number = cursor_ == SIZE_MAX ? 0 : model_.difference_number(cursor_);
  std::string below = model_.summary();
  for (const std::string& sentence : model_.not_compared()) below += "; " + sentence;
  if (number) below = "difference " + count_text(number) + " of " + count_text(model_.differences()) + "; " + below;
  pen.text_cut(Type::kSmall, a.x, base_of(y, u(20)), a.w, p.faint, below);
  return y + u(26);
}

void ComparePanel::draw_list(Context& c, const Pen& pen, const Area& a) {
  const CompareColumns at = compare_columns(a, model_.columns().size());
  draw_compare_head(pen, model_, at, a.y);
  const float head = u(42), pad = u(theme::kPadX);
  pen.hline(a.x - pad, a.y + head - 1, a.w + 2 * pad, theme::color(theme::palette().line));
  const Area body{a.x - pad, a.y + head, a.w + 2 * pad, std::max(1.f, a.h - head)};
  const size_t marked = place();
  const bool focused = ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
  list_.begin("##pairs", body, static_cast<int64_t>(model_.rows()), u(theme::kRow + 4));
  {
    const Pen inner;
    size_t open = SIZE_MAX, chosen = SIZE_MAX;
    for (int64_t i = list_.first(); i < list_.end_row(); ++i) {
      const auto n = static_cast<size_t>(i);
      const CompareRow& r = model_.row(n);
      Hit caret;
      const Hit h = draw_compare_row(inner, {a.x, body.y, a.w, body.h}, at, r, list_.y(i), n == marked, focused, &caret);
      if (caret || h.double_clicked) open = n;
      else if (h) chosen = n;
    }
    if (chosen != SIZE_MAX) pick(c, model_.row(chosen).index);
    if (open != SIZE_MAX) model_.set_expanded(open, !model_.row(open).expanded);
  }
  list_.end();
}

void ComparePanel::refresh_whys(Context&) {
  if (why_for_ == cursor_) return;
  why_for_ = cursor_;
  const DiffRow& r = model_.diff().rows[cursor_];
  for (int i = 0; i < 2; ++i) {
    const EventId e = i ? r.right : r.left;
    const Session& s = *model_.choice().side[i].session;
    why_[i] = {e, model_.choice().name[i], "", "", {}};
    if (!e) continue;
    why_[i].mode = "under " + mode_of(s, e);
    why_[i].effects = model_.effects(i, e);
    why_[i].model = make_why_model(s, why(s, e));
  }
}

void ComparePanel::draw_whys(Context& c, const Area& a) {
  refresh_whys(c);
  const Pen pen;
  const float gap = u(24), half = std::floor((a.w - gap) / 2), pad = u(theme::kPadX);
  pen.hline(a.x - pad, a.y, a.w + 2 * pad, theme::color(theme::palette().line_strong));
  pen.vline(a.x + half + gap / 2, a.y, a.h + u(theme::kPadY), theme::color(theme::palette().line_strong));
  for (int i = 0; i < 2; ++i) {
    const float x = a.x + static_cast<float>(i) * (half + gap);
    pen.section(x, a.y + u(5), half, std::string("Why, ") + (i ? "right: " : "left: ") + model_.choice().name[i]);
    const EventId clicked = draw_compare_why(why_[i], i ? "##why right" : "##why left", {x, a.y + u(28), half, a.h - u(28)});
    if (clicked && (i == 0 || !c.compare.other)) {
      c.select(clicked);
      seen_selection_ = c.selection_changes;  // the pair stays
    }
  }
}

void ComparePanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "peel open F.peel G.peel compares two recordings.");
  refresh(c);
  if (!model_.filled()) {
    if (work_.busy()) return pen.empty(a, "Comparing", "Pairs are shown when all calls have been aligned.");
    if (!checked_) return pen.empty(a, "Reading", "The comparison begins when everything is loaded.");
    if (c.compare.a || c.compare.b) {
      const bool has_a = c.compare.a.has_value();
      const std::string set = (has_a ? "A is " + c.compare.a->name : "B is " + c.compare.b->name) + ". Now select a hop and choose ";
      return pen.empty(a, "One side is chosen", set + (has_a ? "Set B in menu Go." : "Set A in menu Go."));
    }
    return pen.empty(a, "Nothing to compare yet",
                     "No line ran under two modes here. Select a call and choose Set A, then another and Set B: in menu Go, "
                     "or with the right button in Trace. Two files: peel open F.peel G.peel");
  }
  follow(c);
  const float top = draw_top(c, pen, a);
  const float rest = a.bottom() - top;
  const bool whys = rest > u(kLeastList + kLeastWhy) && cursor_ != SIZE_MAX;
  const float rows = static_cast<float>(model_.rows()) * u(theme::kRow + 4) + u(56);
  const float list = whys ? std::clamp(rows, u(kLeastList), rest * (1 - kWhyShare)) : rest;
  draw_list(c, pen, {a.x, top, a.w, list});
  if (whys) draw_whys(c, {a.x, top + list, a.w, rest - list});
}

}  // namespace

std::unique_ptr<Panel> make_compare_panel() { return std::make_unique<ComparePanel>(); }

}  // namespace peel::views
