// What stands around the Timeline's lanes: the sentence, the search, details of the selection and of a measured range.
#include <algorithm>

#include "imgui_internal.h"
#include "imgui_stdlib.h"
#include "views/timeline_panel.h"

namespace peel::views {

using theme::color;
using theme::Type;
using theme::u;

float TimelinePanel::draw_head(Context& c, const Pen& pen, const Area& a) {
  (void)c;
  const auto& p = theme::palette();
  const std::string seen = duration(view_.length()) + " of " + duration(view_.last - view_.first) + (folded_ ? ", " + count_text(folded_) + " folded" : ", nothing folded") +
                           (tracks_->too_deep() ? ", " + count_text(tracks_->too_deep()) + " too deep" : "");
  float right = a.right();
  const float base = base_of(a.y, u(22));
  if (a.w > u(520)) {
    Hit fit;
    const float w = text_width(Type::kSmall, "fit");
    pen.link("fit", right - w, base, "fit", &fit);
    tip(fit, "Shows the whole recording (F). A and D move, W and S or the wheel zoom, dragging measures.");
    if (fit) view_.fit();
    right -= w + u(14);
    pen.note_right(right, base, seen);
    right -= text_width(Type::kSmall, seen) + u(16);
  }
  Parts said = gap_ ? Parts{{gap_->text}} : sentence_;
  if (said.empty()) said = {{"Click a box to select its hop; drag to measure."}};
  std::vector<Run> runs;
  const bool small = a.h < u(240) || a.w < u(700);
  for (const Part& part : said) runs.push_back({part.strong ? (small ? Type::kSemi : Type::kSemiLead) : small ? Type::kBody : Type::kLead, p.text, part.text});
  ImGui::PushClipRect({a.x, a.y}, {right, a.bottom()}, true);
  const int lines = std::min(2, pen.rich_wrapped(a.x, base, right - a.x, u(22), runs));
  ImGui::PopClipRect();
  return a.y + static_cast<float>(lines) * u(22) + u(8);
}

// ---- search: hops by the filter language, kernels and copies by a part of their name

void TimelinePanel::find_work() {
  const GpuActivity* g = tracks_->gpu();
  if (work_text_ == find_text_ && found_in_ == g) return;
  work_text_ = find_text_, found_in_ = g;
  found_work_.clear();
  if (!g || find_text_.empty()) return;
  std::vector<bool> wanted, known;
  const auto matches = [&](const Work& w) {
    if (w.shape >= known.size()) known.resize(w.shape + 1), wanted.resize(w.shape + 1);
    if (!known[w.shape]) known[w.shape] = true, wanted[w.shape] = g->full_name(w).find(find_text_) != std::string::npos;
    return bool(wanted[w.shape]);
  };
  for (uint32_t s = 0; s < g->streams().size(); s++) {
    const auto& work = g->streams()[s].work;
    for (uint32_t i = 0; i < work.size(); i++) if (matches(work[i])) found_work_.push_back({work[i].begin, {s, i}});
  }
  std::sort(found_work_.begin(), found_work_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

void TimelinePanel::find_next(Context& c, bool forward) {
  find_work();
  const Session& s = *c.session;
  const Nanoseconds now = item_ ? stretch_of(s, *tracks_, *item_).begin : view_.from;
  const EventId hop = find_.next(c.selected, forward);
  // Of the next hop and the next piece of work the nearer one; what lies behind the end comes after everything.
  const auto distance = [&](Nanoseconds t) { return forward ? (t > now ? t - now : INT64_MAX / 2 + t) : (t < now ? now - t : INT64_MAX / 2 - t); };
  const std::pair<Nanoseconds, WorkRef>* work = nullptr;
  if (!found_work_.empty()) {
    const auto i = forward ? std::partition_point(found_work_.begin(), found_work_.end(), [&](const auto& w) { return w.first <= now; })
                           : std::partition_point(found_work_.begin(), found_work_.end(), [&](const auto& w) { return w.first < now; });
    work = forward ? (i == found_work_.end() ? &found_work_.front() : &*i) : (i == found_work_.begin() ? &found_work_.back() : &*(i - 1));
  }
  if (!hop && !work) {
    c.notice = find_.busy() ? "Still searching." : "Nothing matches " + find_text_ + ".";
    return;
  }
  if (work && (!hop || distance(work->first) < distance(s.stretch(hop).begin))) {
    const TimelineItem item{RowKind::kWork, work->second.index, work->second.stream};
    choose(c, item);
    show_item(s, item, false);
  } else {
    c.select(hop);
  }
}

float TimelinePanel::draw_find(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  const float h = u(24);
  find_.set(c.session, find_text_);
  find_.poll();
  if (!find_text_.empty()) find_work();
  std::string counted;
  if (!find_.error().empty() && found_work_.empty()) counted = find_.error();
  else if (find_.busy()) counted = "searching …";
  else if (!find_text_.empty()) counted = plural(find_.active() ? find_.ids().size() : 0, "hop") + (tracks_->gpu() ? ", " + plural(found_work_.size(), "piece", "pieces") + " of work" : "");
  pen.fill(a.x, a.y, a.w, h, color(p.sunken), u(theme::kRadius));
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushFont(theme::font(Type::kBody), theme::font_size(Type::kBody));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(u(8), std::round((h - ImGui::GetFontSize()) / 2)));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  const float close_w = text_width(Type::kSmall, "close") + u(12);
  ImGui::SetNextItemWidth(std::max(u(60), a.w - text_width(Type::kSmall, counted) - close_w - u(24)));
  if (take_focus_) ImGui::SetKeyboardFocusHere(), take_focus_ = false;
  const bool enter = ImGui::InputTextWithHint("##find time", "Find:  mm   node:Addmm*   or a kernel's name   (Enter, Shift+Enter)", &find_text_,
                                              ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool active = ImGui::IsItemActive(), leave = ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGuiKey_Escape, false);
  if (enter) {
    find_next(c, !ImGui::GetIO().KeyShift);
    ImGui::SetKeyboardFocusHere(-1);
  }
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  pen.frame(a.x, a.y, a.w, h, color(active ? p.focus : p.line), u(theme::kRadius));
  pen.text_right(Type::kSmall, a.right() - close_w, base_of(a.y, h), p.dim, counted);
  Hit close;
  pen.link("close search", a.right() - close_w + u(6), base_of(a.y, h), "close", &close);
  if (close || leave) {
    finding_ = false;
    ImGui::ClearActiveID();
  }
  return a.y + h + u(8);
}

// ---- the right side

float TimelinePanel::draw_range_side(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  float y = a.y;
  pen.section(a.x, y, a.w, "Measured", duration(range_->second - range_->first));
  y += u(24);
  if (!stats_.whole) {
    pen.note(a.x, base_of(y, u(20)), measuring_.busy() ? "counting …" : "drag to measure");
    return y + u(28);
  }
  const RangeStats& r = stats_;
  std::string counts = plural(r.hops, "hop") + ", " + plural(r.calls, "call");
  if (tracks_->gpu()) counts += ", " + plural(r.kernels, "kernel") + ", " + plural(r.copies, "copy", "copies") + (r.copied ? " of " + bytes_text(static_cast<int64_t>(r.copied)) : "");
  pen.text_cut(Type::kSmall, a.x, base_of(y, u(20)), a.w, p.dim, counts);
  y += u(26);
  const double whole = static_cast<double>(std::max<Nanoseconds>(r.to - r.from, 1));
  const auto row = [&](const std::string& name, const std::string& n, Nanoseconds time, double share, EventId leads, int index) {
    if (y + u(21) > a.bottom()) return;
    Hit h;
    if (leads) h = hit(("range/" + std::to_string(index) + name).c_str(), a.x - u(4), y, a.w + u(4), u(20));
    if (h.hovered) pen.fill(a.x - u(4), y, a.w + u(4), u(20), color(p.hover), u(theme::kRadius));
    const float numbers = u(92);
    pen.fill(a.right() - u(64), y + u(16), u(64) * static_cast<float>(std::clamp(share, 0., 1.)), u(2), color(p.line_strong));
    pen.text_cut(Type::kMonoSmall, a.x, base_of(y, u(18)), a.w - numbers - u(8), p.text, name);
    pen.text_right(Type::kMonoSmall, a.right() - u(66), base_of(y, u(18)), p.faint, n);
    pen.text_right(Type::kMonoSmall, a.right(), base_of(y, u(18)), p.text, duration(time));
    tip(h, name);
    if (h) c.select(leads);
    y += u(21);
  };
  const auto head = [&](const char* what) {
    if (y + u(48) > a.bottom()) return false;
    y += u(6);
    pen.text(Type::kSemiSmall, a.x, base_of(y, u(20)), p.dim, what);
    y += u(21);
    return true;
  };
  if (!r.threads.empty() && head("Busy"))
    for (const auto* list : {&r.threads, &r.streams})
      for (const auto& b : *list) {
        const double share = static_cast<double>(b.busy) / whole;
        row(b.name, std::to_string(static_cast<int>(share * 100 + .5)) + " %", b.busy, share, {}, 0);
      }
  if (!r.streams.empty()) {
    const double busy = static_cast<double>(r.gpu_busy) / whole;
    row("GPU, any stream", std::to_string(static_cast<int>(busy * 100 + .5)) + " %", r.gpu_busy, busy, {}, 0);
    if (r.gpu_overlap) row("GPU, streams at once", "", r.gpu_overlap, static_cast<double>(r.gpu_overlap) / whole, {}, 0);
    if (!r.idle.empty() && head("Streams waited, because"))
      for (const auto& i : r.idle) row(gap_name(i.reason), count_text(i.count), i.time, static_cast<double>(i.time) / static_cast<double>(std::max<Nanoseconds>(r.idle[0].time, 1)), {}, 0);
  }
  int index = 0;
  const auto top = [&](const char* what, const std::vector<RangeStats::Top>& list, size_t most) {
    if (list.empty() || !head(what)) return;
    for (size_t i = 0; i < std::min(list.size(), most); i++)
      row(list[i].name, count_text(list[i].count), list[i].time, static_cast<double>(list[i].time) / static_cast<double>(std::max<Nanoseconds>(list[0].time, 1)), list[i].first, ++index);
  };
  top("Operators, own time", r.operators, r.kernel_names.empty() ? 12 : 6);
  top("Kernels and copies", r.kernel_names, 8);
  return y + u(6);
}

void TimelinePanel::draw_side(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  pen.vline(a.x - u(12), a.y, a.h + u(theme::kPadY), color(p.line));
  float y = a.y;
  if (range_) y = draw_range_side(c, pen, a);
  else pen.note(a.x, base_of(a.bottom() - u(20), u(20)), "Drag to measure a stretch of time.");
  if (facts_.empty() || y + u(60) > a.bottom()) return;
  pen.section(a.x, y, a.w, std::any_of(facts_.begin(), facts_.end(), [](const TimelineFact& f) { return f.what == "launch"; }) ? "From line to kernel" : "Selected");
  y += u(24);
  int index = 0;
  for (const TimelineFact& f : facts_) {
    if (y + u(22) > a.bottom()) break;
    Hit h;
    if (f.event && f.event != c.selected) h = hit(("fact/" + std::to_string(index++)).c_str(), a.x - u(4), y, a.w + u(4), u(21));
    if (h.hovered) pen.fill(a.x - u(4), y, a.w + u(4), u(21), color(p.hover), u(theme::kRadius));
    pen.note(a.x, base_of(y, u(21)), f.what);
    float at = a.x + u(66);
    const Key* key = f.what == "layer" ? c.session->key_by_name(f.text) : nullptr;
    if (key) {
      pen.tag(at, y + u(10), f.text, theme::Mark::kRan);
      at += u(theme::kTagW + 8);
    }
    pen.text_cut(f.code ? Type::kMonoSmall : Type::kSmall, at, base_of(y, u(21)), a.right() - at, p.text, f.text);
    tip(h, f.text);
    if (h) c.select(f.event);
    y += u(22);
  }
}

}  // namespace peel::views
