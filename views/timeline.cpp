#include "views/timeline.h"

#include <algorithm>
#include <cmath>

#include "views/memory_source.h"
#include "views/timeline_memory.h"
#include "views/timeline_panel.h"

namespace peel::views {

using theme::u;

namespace {
constexpr float kDrag = 4;              // pixels before a press becomes a drag
constexpr double kWheel = 1.25, kKey = 1.4;
constexpr uint32_t kHopsAFrame = 40'000;  // taken in as a recording grows: about a millisecond
}  // namespace

void TimelinePanel::session_changed(Context&) {
  building_.stop(), measuring_.stop();
  find_.set(nullptr, "");
  tracks_.reset();
  choices_ = {}, view_ = {}, rows_.clear(), arrows_.clear(), chosen_arrows_.clear();
  item_.reset(), gap_.reset(), range_.reset(), menu_item_.reset();
  stats_ = {}, facts_.clear(), sentence_.clear(), found_work_.clear(), looks_.clear(), names_.clear();
  scroll_ = 0, seen_selection_ = UINT64_MAX, finding_ = placed_ = built_live_ = reading_memory_ = false, found_in_ = nullptr;
  data_version_++, layout_version_++;
}

// ---- data

bool TimelinePanel::prepare(Context& c, const Area& a) {
  const Pen pen;
  if (!c.session) return pen.empty(a, "No recording is open", "Open one with Ctrl+O, or record a program: peel run program.py"), false;
  const Session& s = *c.session;
  if (auto made = building_.take(); made && *made) {
    measuring_.stop();  // it reads the old ones
    tracks_ = std::move(*made);
    memory_version_ = 0;
    data_version_++, layout_version_++;
    names_.clear(), found_in_ = nullptr;
    seen_selection_ = UINT64_MAX;
  }
  const bool ready = s.progress().ready;
  // A recording that has ended is put in order once more: iterations are known only now.
  const bool again = tracks_ && ((built_live_ && !s.live() && ready) || tracks_->wants_rebuild(s));
  if ((!tracks_ || again) && !building_.busy() && (ready || s.live()) && s.size()) {
    built_live_ = s.live(), built_ = 0;
    building_.start([&s, this](const std::atomic<bool>& cancelled) { return TimelineTracks::build(s, cancelled, &built_); });
  }
  if (!tracks_) {
    const Progress p = s.progress();
    if (building_.busy()) pen.empty(a, "Arranging hops in time …", count_text(built_) + " of " + count_text(s.size()));
    else if (!p.ready) pen.empty(a, std::string(p.stage) + " …", count_text(p.done) + " of " + count_text(p.total));
    else pen.empty(a, "The recording holds no hop", "The program called no operator after its first import of torch.");
    return false;
  }
  const LoadedMemory& memory = c.memory->look(s);
  reading_memory_ = c.memory->busy();
  if (memory.version != memory_version_ && !measuring_.busy() && !building_.busy()) {
    memory_version_ = memory.version;
    if (memory.history) tracks_->set_memory(s, memory.history), data_version_++, layout_version_++, names_.clear();
  }
  if (!measuring_.busy() && !building_.busy() && s.live() && tracks_->extend(s, kHopsAFrame)) data_version_++, layout_version_++, names_.clear();
  return true;
}

void TimelinePanel::follow(Context& c) {
  if (seen_selection_ == c.selection_changes) return;
  seen_selection_ = c.selection_changes;
  gap_.reset();
  facts_stale_ = true;
  if (!c.selected || c.selected.value > tracks_->hops()) {
    item_.reset();
    return;
  }
  item_ = TimelineItem{RowKind::kHop, c.selected.value};
  show_item(*c.session, *item_, false);
}

// Brings it into sight; `zoom`: as large as it is useful.
void TimelinePanel::show_item(const Session& s, const TimelineItem& i, bool zoom) {
  const Stretch at = stretch_of(s, *tracks_, i);
  if (zoom) view_.show(at.begin - (at.end - at.begin) / 6 - 1, at.end + (at.end - at.begin) / 6 + 1);
  else view_.reveal(at.begin, at.end);
  if (const auto row = row_of(s, *tracks_, i)) bring_row_into_sight(*row);
}

void TimelinePanel::bring_row_into_sight(const RowPlace& at) {
  for (const PlacedRow& r : layout_.rows) {
    if (r.track != at.track || r.row != at.row) continue;
    const float y = u(r.y), h = u(TimelineLayout::kPitch);
    if (y < scroll_) scroll_ = std::max(0.f, y - u(4));
    else if (lanes_.h > 0 && y + h > scroll_ + lanes_.h) scroll_ = y + h - lanes_.h + u(4);
  }
}

void TimelinePanel::scroll(float pixels) {
  scroll_ = std::clamp(scroll_ + pixels, 0.f, std::max(0.f, u(layout_.height) - lanes_.h));
}

void TimelinePanel::scroll_bar(const Pen& pen, const Area& lanes) {
  const float whole = u(layout_.height);
  if (whole <= lanes.h + 1) return;
  const auto& p = theme::palette();
  const float h = std::max(u(20), lanes.h * lanes.h / whole), room = lanes.h - h, y = lanes.y + room * scroll_ / (whole - lanes.h), x = lanes.right() - u(7);
  const Hit bar = hit("scroll", x - u(3), lanes.y, u(10), lanes.h);
  if (ImGui::IsItemActivated()) grabbed_ = ImGui::GetIO().MousePos.y >= y && ImGui::GetIO().MousePos.y < y + h ? ImGui::GetIO().MousePos.y - y : h / 2;
  if (bar.held && room > 0) scroll((ImGui::GetIO().MousePos.y - grabbed_ - lanes.y) / room * (whole - lanes.h) - scroll_);
  pen.fill(x, y, u(5), h, theme::color(bar.held || bar.hovered ? p.line_strong : p.line), u(2));
}

void TimelinePanel::recompute(Context& c, const Area& lanes) {
  lanes_ = lanes;
  view_.width = std::max(1.f, lanes.w);
  if (view_.first != tracks_->begin() || view_.last != tracks_->end()) {
    const bool whole = view_.last <= 1 || (view_.from <= view_.first && view_.to >= view_.last);
    view_.first = tracks_->begin(), view_.last = tracks_->end();
    if (whole) view_.fit();
  }
  if (!placed_ && (c.selected || !tracks_->iterations().size())) first_view(c);
  if (key_.layout != layout_version_) layout_ = place_tracks(*tracks_, choices_);
  scroll(0);
  follow(c);
  scroll(0);
  const Drawn key{view_.from, view_.to, view_.width, scroll_, lanes.h, data_version_, layout_version_};
  if (key == key_) return;
  key_ = key;
  const float scale = theme::scale();
  rows_ = draw_rows(*c.session, *tracks_, layout_, view_, scroll_ / scale, (scroll_ + lanes.h) / scale);
  arrows_ = arrows_in(*tracks_, *c.session, rows_, view_);
  folded_ = 0;
  for (const DrawnRow& r : rows_) for (const LaneBox& b : r.boxes) folded_ += b.folded() ? b.count() : 0;
  if (names_.size() > 20000) names_.clear();
}

// What is seen first: the iteration of the selection, as the set-up before it is often longer than all iterations.
void TimelinePanel::first_view(const Context& c) {
  placed_ = true;
  const Nanoseconds at = c.session->stretch(c.selected).begin;
  for (const NamedStretch& i : tracks_->iterations()) {
    if (at < i.begin || at > i.end || i.name.find("iteration") == std::string::npos) continue;
    const Nanoseconds margin = (i.end - i.begin) / 20 + 1;
    view_.show(i.begin - margin, i.end + margin);
  }
}

// ---- choosing

void TimelinePanel::choose(Context& c, const TimelineItem& i) {
  item_ = i;
  gap_.reset();
  facts_stale_ = true;
  if (const EventId e = event_of(*tracks_, i)) c.select(e);
  seen_selection_ = c.selection_changes;  // it is in sight already
}

void TimelinePanel::click(Context& c, const TimelinePick& p) {
  if (!p.row) return;
  if (p.box) return choose(c, item_of(*tracks_, p.row->at, p.box->longest));
  const Track& t = tracks_->tracks()[p.row->at.track];
  if (t.kind == Track::Kind::kMemory) return c.select(memory_hop(*tracks_->memory(), tracks_->memory()->devices[t.device], p.time));
  if (t.kind != Track::Kind::kStream) return;
  gap_ = gap_at(*c.session, *tracks_, t.stream, p.time);
  if (!gap_) return;
  if (gap_->event) c.select(gap_->event), item_ = TimelineItem{RowKind::kHop, gap_->event.value};
  else item_.reset();
  seen_selection_ = c.selection_changes;
  facts_stale_ = true;
}

void TimelinePanel::measure(const Context& c, Nanoseconds a, Nanoseconds b) {
  range_ = std::minmax(a, b);
  stats_ = {};
  const Session& s = *c.session;
  const TimelineTracks& t = *tracks_;
  measuring_.start([&s, &t, r = *range_](const std::atomic<bool>& cancelled) { return range_stats(s, t, r.first, r.second, cancelled); });
}

// ---- input

void TimelinePanel::input(Context& c, const Area& lanes, const Area& labels) {
  const ImGuiIO& io = ImGui::GetIO();
  ImGui::SetCursorScreenPos({lanes.x, lanes.y});
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton("lanes", {std::max(1.f, lanes.w), std::max(1.f, lanes.h)},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  const bool over = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  const float x = io.MousePos.x - lanes.x, y = io.MousePos.y - lanes.y;
  const float units_y = (y + scroll_) / theme::scale();
  mouse_x_ = over ? x : -1;
  const auto inside = [&](const Area& a) { return io.MousePos.x >= a.x && io.MousePos.x < a.right() && io.MousePos.y >= a.y && io.MousePos.y < a.bottom(); };
  if (over && io.MouseWheel != 0 && !io.KeyShift) view_.zoom(std::pow(kWheel, io.MouseWheel), x);
  if (over && io.MouseWheel != 0 && io.KeyShift) view_.pan(-io.MouseWheel * 60);
  if (over && io.MouseWheelH != 0) view_.pan(-io.MouseWheelH * 60);
  if (io.MouseWheel != 0 && ImGui::IsWindowHovered() && inside(labels)) scroll(-io.MouseWheel * u(48));

  if (ImGui::IsItemActivated()) pressed_ = true, dragging_ = moved_by_right_ = false, pressed_x_ = x, pressed_y_ = y, pressed_at_ = view_.at(x);
  const bool left = io.MouseDown[0], other = io.MouseDown[1] || io.MouseDown[2];
  if (held && pressed_ && left) {
    dragging_ = dragging_ || std::abs(x - pressed_x_) > kDrag;
    if (dragging_) range_ = std::minmax(pressed_at_, view_.at(std::clamp(x, 0.f, lanes.w)));
  } else if (held && pressed_ && other) {
    moved_by_right_ = moved_by_right_ || std::abs(x - pressed_x_) + std::abs(y - pressed_y_) > kDrag;
    if (moved_by_right_) view_.pan(-io.MouseDelta.x), scroll(-io.MouseDelta.y);
  }
  if (ImGui::IsItemDeactivated() && pressed_) {
    pressed_ = false;
    const TimelinePick p = pick(rows_, view_, x, units_y);
    if (dragging_) {
      measure(c, range_->first, range_->second);
    } else if (io.MouseReleased[1] && !moved_by_right_) {
      menu_item_ = p.row && p.box ? std::optional(item_of(*tracks_, p.row->at, p.box->longest)) : std::nullopt;
      menu_track_ = p.row ? tracks_->tracks()[p.row->at.track].key : 0;
      if (menu_item_) choose(c, *menu_item_);
      open_menu_ = true;
    } else if (io.MouseReleased[0]) {
      click(c, p);
    }
    dragging_ = false;
  }
  if (over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && item_) show_item(*c.session, *item_, true);

  hovered_.reset();
  if (!over || held) return;
  const TimelinePick p = pick(rows_, view_, x, units_y);
  if (p.row && p.box) hovered_ = std::pair(p.row->at.y, *p.box);
  Hit h;
  h.hovered = true;
  if (p.row && p.box) return tip(h, box_tip(*c.session, *tracks_, p.row->at, *p.box));
  if (!p.row) return;
  const Track& t = tracks_->tracks()[p.row->at.track];
  if (t.kind == Track::Kind::kMemory) return tip(h, memory_tip(*tracks_->memory(), tracks_->memory()->devices[t.device], p.time));
  if (t.kind != Track::Kind::kStream) return;
  if (const auto gap = gap_at(*c.session, *tracks_, t.stream, p.time)) tip(h, gap->text);
}

void TimelinePanel::step_to(Context& c, EventId e) {
  if (e) c.select(e);
}

bool TimelinePanel::run(Context& c, std::string_view id) {
  if (!c.session || !tracks_) return false;
  const double middle = mouse_x_ >= 0 ? mouse_x_ : view_.width / 2;
  const Session& s = *c.session;
  const EventId at = c.selected;
  if (id == "timeline.left") view_.pan(-view_.width / 8);
  else if (id == "timeline.right") view_.pan(view_.width / 8);
  else if (id == "timeline.closer") view_.zoom(kKey, middle);
  else if (id == "timeline.wider") view_.zoom(1 / kKey, middle);
  else if (id == "timeline.fit") view_.fit();
  else if (id == "timeline.selection") {
    if (range_) view_.show(range_->first, range_->second);
    else if (item_) show_item(s, *item_, true);
  } else if (id == "timeline.clear") range_.reset(), measuring_.stop(), stats_ = {}, gap_.reset(), facts_stale_ = true;
  else if (id == "timeline.measure") {
    if (!item_) return true;
    const Stretch x = stretch_of(s, *tracks_, *item_);
    measure(c, x.begin, x.end);
  } else if (id == "timeline.pin" || id == "timeline.collapse") {
    const auto row = item_ ? row_of(s, *tracks_, *item_) : std::nullopt;
    if (!row) return true;
    auto& set = id == "timeline.pin" ? choices_.pinned : choices_.collapsed;
    const uint64_t key = tracks_->tracks()[row->track].key;
    if (!set.erase(key)) set.insert(key);
    layout_version_++;
  } else if (id == "list.left") step_to(c, s.previous_sibling(at));
  else if (id == "list.right") step_to(c, s.next_sibling(at));
  else if (id == "list.up") step_to(c, s.parent(at));
  else if (id == "list.down") step_to(c, s.first_child(at));
  else if (id == "list.page_up") scroll(-lanes_.h * .8f);
  else if (id == "list.page_down") scroll(lanes_.h * .8f);
  else if (id == "list.first") view_.show(view_.first, view_.first + view_.length());
  else if (id == "list.last") view_.show(view_.last - view_.length(), view_.last);
  else if (id == "list.open" && item_) show_item(s, *item_, true);
  else return false;
  return true;
}

std::string TimelinePanel::copy_text(Context& c) {
  if (!c.session || !tracks_) return "";
  if (range_ && stats_.whole) return range_text(stats_);
  if (gap_) return gap_->text + "\n";
  return item_ ? item_tip(*c.session, *tracks_, *item_) + "\n" : "";
}

void TimelinePanel::draw_menu(Context& c) {
  if (open_menu_) ImGui::OpenPopup("##timeline"), open_menu_ = false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(8)));
  const bool shown = ImGui::BeginPopup("##timeline");
  ImGui::PopStyleVar();
  if (!shown) return;
  if (menu_item_) {
    if (ImGui::MenuItem("Zoom to it", "Z")) show_item(*c.session, *menu_item_, true);
    const Stretch at = stretch_of(*c.session, *tracks_, *menu_item_);
    if (ImGui::MenuItem("Measure it")) measure(c, at.begin, at.end);
    const Event e = c.session->event(event_of(*tracks_, *menu_item_));
    if (e.op && ImGui::MenuItem(("Only " + c.session->op(e.op).full + " in Trace").c_str())) c.filter = c.session->op(e.op).full;
    ImGui::Separator();
  }
  if (menu_track_) {
    const auto toggle = [&](const char* yes, const char* no, std::set<uint64_t>& set) {
      if (!ImGui::MenuItem(set.contains(menu_track_) ? no : yes)) return;
      if (!set.erase(menu_track_)) set.insert(menu_track_);
      layout_version_++;
    };
    toggle("Pin this lane at the top", "Unpin this lane", choices_.pinned);
    toggle("Collapse this lane", "Expand this lane", choices_.collapsed);
    ImGui::Separator();
  }
  for (const char* id : {"timeline.fit", "timeline.clear", "edit.copy"})
    if (const Command* command = c.commands->find(id); command && ImGui::MenuItem(command->title)) {
      if (std::string_view(id) == "edit.copy") c.commands->run(id);
      else run(c, id);
    }
  ImGui::EndPopup();
}

// ---- the frame

void TimelinePanel::draw(Context& c) {
  const Area a = panel_area();
  if (!prepare(c, a)) return;
  const Pen pen;
  if (auto done = measuring_.take()) stats_ = std::move(*done);
  float y = draw_head(c, pen, a);
  if (c.focus_field == "find time") finding_ = take_focus_ = true, c.focus_field.clear();
  if (finding_) y = draw_find(c, pen, {a.x, y, a.w, a.bottom() - y});
  const bool side = a.w >= u(860) && a.bottom() - y > u(160);
  const float w = side ? a.w - u(300) : a.w, label = u(kTimelineLabels), axis_h = u(kTimelineAxis);
  const Area lanes{a.x + label, y + axis_h, std::max(u(40), w - label), std::max(u(30), a.bottom() + u(theme::kPadY) - y - axis_h)};
  const Area labels{a.x - u(theme::kPadX), lanes.y, label + u(theme::kPadX), lanes.h}, axis{lanes.x, y, lanes.w, axis_h};
  recompute(c, lanes);
  input(c, lanes, labels);
  recompute(c, lanes);
  draw_axis(pen, axis, lanes);
  draw_lanes(c, pen, lanes);
  draw_labels(c, pen, labels);
  draw_range(pen, axis, lanes);
  scroll_bar(pen, lanes);
  if (side) draw_side(c, pen, {a.right() - u(284), y, u(284), a.bottom() - y});
  draw_menu(c);
}

bool TimelinePanel::probe(EventId e, TimelineProbe& p) const {
  p.busy = busy(), p.from = view_.from, p.to = view_.to, p.measured = range_ && stats_.whole, p.range_hops = stats_.hops, p.gap = gap_ ? gap_->text : "";
  for (const DrawnRow& r : rows_) {
    if (r.kind != RowKind::kHop || !tracks_) continue;
    for (const LaneBox& b : r.boxes) {
      if (b.folded() || item_of(*tracks_, r.at, b.first).item != e.value) continue;
      const float x0 = std::max(view_.x(b.begin), 0.f), x1 = std::min(view_.x(b.end), lanes_.w);
      p.x = lanes_.x + (x0 + x1) / 2, p.y = row_y(lanes_, r.at.y) + u(TimelineLayout::kBar) / 2;
      return true;
    }
  }
  return false;
}

bool timeline_probe(const Panel& p, EventId e, TimelineProbe& out) {
  const auto* t = dynamic_cast<const TimelinePanel*>(&p);
  return t && t->probe(e, out);
}

std::unique_ptr<Panel> make_timeline_panel() { return std::make_unique<TimelinePanel>(); }

}  // namespace peel::views
