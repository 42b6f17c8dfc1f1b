// Lanes, axis, labels and arrows of the Timeline panel.
#include <algorithm>
#include <cmath>

#include "views/timeline_panel.h"

namespace peel::views {

using theme::color;
using theme::Type;
using theme::u;

namespace {

constexpr float kNarrow = 14;  // units: below this a box has no text
float bar() { return u(TimelineLayout::kBar); }

}  // namespace

float TimelinePanel::row_y(const Area& lanes, float units) const { return lanes.y + u(units) - std::round(scroll_); }
std::optional<float> TimelinePanel::row_y(const Area& lanes, RowPlace at) const {
  const PlacedTrack* track = nullptr;
  for (const PlacedRow& r : layout_.rows) if (r.track == at.track && r.row == at.row) return row_y(lanes, r.y);
  for (const PlacedTrack& t : layout_.tracks) if (t.track == at.track) track = &t;
  return track ? std::optional(row_y(lanes, track->y)) : std::nullopt;  // collapsed: where the track is
}

theme::Family TimelinePanel::family_of(const Session& s, KeyId k) {
  if (k >= looks_.size()) looks_.resize(size_t{k} + 1, {theme::kBackend, false});
  Look& l = looks_[k];
  if (!l.known) {
    const Key* name = s.key(k);
    l = {name ? theme::key_style(name->name).family : theme::kBackend, name != nullptr};
  }
  return l.family;
}

const std::string& TimelinePanel::name_of(const Session& s, const TimelineItem& i) {
  const uint64_t key = uint64_t(i.kind) << 60 | uint64_t{i.stream & 0xfffffff} << 32 | i.item;
  const auto [at, fresh] = names_.try_emplace(key);
  if (fresh) at->second = item_name(s, *tracks_, i);
  return at->second;
}

void TimelinePanel::draw_axis(const Pen& pen, const Area& axis, const Area& lanes) const {
  const auto& p = theme::palette();
  const Nanoseconds step = axis_step(view_, u(90));
  // Far from the beginning the places differ in digits that nobody reads: then they are told from the first one on.
  Nanoseconds zero = view_.first;
  const bool offset = view_.from - zero > 2000 * step;
  if (offset) {
    zero += (view_.from - zero) / (10 * step) * (10 * step);
    pen.text_right(Type::kSmall, axis.x - u(8), base_of(axis.y - u(1), u(18)), p.dim, axis_text(zero - view_.first, 10 * step) + " +");
  }
  for (Nanoseconds t = (view_.from - zero) / step * step; t <= view_.to - zero; t += step) {
    const float x = axis.x + std::round(view_.x(t + zero));
    if (x < axis.x - 1) continue;
    pen.vline(x, axis.y + u(14), lanes.bottom() - axis.y - u(14), color(p.line, .55f));
    const std::string text = axis_text(t, step);
    if (x + text_width(Type::kSmall, text) + u(6) < axis.right()) pen.note(x + u(4), base_of(axis.y - u(1), u(18)), text);
  }
  // Which part of the whole is seen.
  const double whole = static_cast<double>(std::max<Nanoseconds>(view_.last - view_.first, 1));
  const auto part = [&](Nanoseconds t) { return static_cast<float>(std::clamp(static_cast<double>(t - view_.first) / whole, 0., 1.)) * axis.w; };
  if (part(view_.to) - part(view_.from) < axis.w - 1) {
    pen.fill(axis.x, axis.y - u(3), axis.w, u(2), color(p.line));
    pen.fill(axis.x + part(view_.from), axis.y - u(3), std::max(u(3), part(view_.to) - part(view_.from)), u(2), color(p.focus));
  }
}

// ---- labels at the left

void TimelinePanel::draw_labels(Context& c, const Pen& pen, const Area& a) {
  (void)c;
  const auto& p = theme::palette();
  ImGui::PushClipRect({a.x, a.y}, {a.right(), a.bottom()}, true);
  for (const PlacedTrack& placed : layout_.tracks) {
    const Track& t = tracks_->tracks()[placed.track];
    const float y = row_y(a, placed.y), h = u(placed.h), x = a.x + u(theme::kPadX);
    if (y + h < a.y || y > a.bottom()) continue;
    ImGui::PushID(static_cast<int>(t.key ^ t.key >> 32));
    const bool head = t.kind == Track::Kind::kProcess, folds = head || t.rows.size() > 1;
    const float shown_y = std::max(y, a.y);
    const Hit toggle = hit(("lane/" + t.name).c_str(), a.x, shown_y, a.w - u(20), std::max(1.f, std::min(y + h, a.bottom()) - shown_y));
    if (toggle.hovered) pen.fill(a.x, shown_y, a.w - u(4), std::min(y + h, a.bottom()) - shown_y - u(4), color(p.hover, .5f), u(theme::kRadius));
    const float base = base_of(y, bar());
    if (folds) pen.caret(x - u(9), y + bar() / 2, !placed.collapsed, color(p.faint));
    pen.text_cut(head ? Type::kSemi : Type::kSemiSmall, x + u(2), base, a.w - u(34), head ? p.text : p.dim, t.name);
    if (!t.note.empty() && h >= u(2 * TimelineLayout::kPitch)) pen.text_cut(Type::kSmall, x + u(2), base + u(TimelineLayout::kPitch) - u(3), a.w - u(28), p.faint, t.note);
    if (toggle && folds) {
      if (!choices_.collapsed.erase(t.key)) choices_.collapsed.insert(t.key);
      layout_version_++;
    }
    tip(toggle, t.name + (t.note.empty() ? "" : ", " + t.note) + (folds ? placed.collapsed ? "\nClick to expand." : "\nClick to collapse." : ""));
    const float px = a.right() - u(16), py = y + bar() / 2;
    const Hit pin = hit(("pin/" + t.name).c_str(), px - u(7), std::max(y, a.y), u(16), bar());
    if (placed.pinned) pen.dot(px, py, u(4), color(p.focus));
    else if (toggle.hovered || pin.hovered) pen.dl->AddCircle({px, py}, u(4), color(p.faint), 0, 1.2f * theme::scale());
    if (pin) {
      if (!choices_.pinned.erase(t.key)) choices_.pinned.insert(t.key);
      layout_version_++;
    }
    tip(pin, placed.pinned ? "Unpin this lane." : "Pin this lane at the top.");
    ImGui::PopID();
  }
  ImGui::PopClipRect();
}

// ---- boxes

void TimelinePanel::draw_folded(const Context& c, const Pen& pen, const DrawnRow& r, const LaneBox& b, float x, float y, float w) {
  const auto& p = theme::palette();
  const double share = std::clamp(static_cast<double>(b.busy) / static_cast<double>(std::max<Nanoseconds>(b.end - b.begin, 1)), .15, 1.);
  const float strength = static_cast<float>(share);
  if (r.kind == RowKind::kHop) {
    const Event e = c.session->event(EventId{item_of(*tracks_, r.at, b.longest).item});
    const theme::Family f = e.kind == Kind::kBackwardNode ? theme::kAutograd : family_of(*c.session, e.key);
    pen.fill(x, y, w, bar(), color(theme::hue(f), (c.dark ? .34f : .28f) * strength));
  } else if (r.kind == RowKind::kWork) {
    pen.fill(x, y, w, bar(), color(theme::hue(theme::kBackend), .25f + .55f * strength));
  } else {
    pen.fill(x, y, w, bar(), color(r.kind == RowKind::kCall ? p.faint : p.line_strong, .6f * strength));
  }
}

void TimelinePanel::draw_hop(const Context& c, const Pen& pen, const Event& e, const TimelineItem& item, float x, float y, float w) {
  const auto& p = theme::palette();
  const Session& s = *c.session;
  const bool node = e.kind == Kind::kBackwardNode;
  const unsigned h = theme::hue(node ? theme::kAutograd : family_of(s, e.key));
  const Kernel* kernel = s.kernel(e.kernel);
  const bool composite = kernel && kernel->rule == "math kernel";
  unsigned ink = p.text;
  if (composite) {
    pen.fill(x, y, w, bar(), color(h, .16f), u(2));
    if (w > u(4)) pen.frame(x, y, w, bar(), color(h), u(2));
    ink = h;
  } else {
    pen.fill(x, y, w, bar(), color(h, c.dark ? .30f : .20f), w > u(6) ? u(2) : 0);
    pen.fill(x, y, std::clamp(std::round(w * .35f), 1.f, u(3)), bar(), color(h));
  }
  if (e.flags & kRaised) pen.fill(x, y + bar() - u(2), w, u(2), color(p.text));
  if (w < u(kNarrow)) return;
  const Key* key = node ? nullptr : s.key(e.key);
  const std::string_view tag = key ? theme::key_style(key->name).tag : "";
  const std::string& name = name_of(s, item);
  const bool inner = is_redispatch(e.kind);
  const float tag_w = tag.empty() ? 0 : text_width(Type::kBoldSmall, tag) + u(6), room = w - u(11);
  const float name_w = inner ? 0 : text_width(Type::kSmall, name);
  const float base = base_of(y, bar());
  // Tag and name, else as much of the name as is readable, else the tag.
  if (!tag.empty() && (inner ? tag_w < room + u(8) : name_w + tag_w < room)) {
    const float tx = inner ? x + (w - tag_w + u(9)) / 2 : x + u(8);
    pen.text(Type::kBoldSmall, tx, base - u(1), ink, tag);
    if (!inner) pen.text(Type::kSmall, x + u(8) + tag_w, base, ink, name);
  } else if (!inner && (name_w < room || room > u(26))) {
    pen.text_cut(Type::kSmall, x + u(7), base, room + u(3), ink, name);
  } else if (!tag.empty() && tag_w < w - u(2)) {
    pen.text(Type::kBoldSmall, x + (w - tag_w + u(9)) / 2, base - u(1), ink, tag);
  }
}

void TimelinePanel::draw_box(const Context& c, const Pen& pen, const Area& lanes, const DrawnRow& r, const LaneBox& b) {
  const auto& p = theme::palette();
  const float left = std::max(view_.x(b.begin), -u(8)), right = std::min(view_.x(b.end), lanes.w + u(8));
  const float x = lanes.x + std::round(left), w = std::max(b.folded() ? 2.f : 2.f, std::round(right) - std::round(left) - (right - left > u(5) ? 1 : 0));
  const float y = row_y(lanes, r.at.y);
  if (b.folded()) return draw_folded(c, pen, r, b, x, y, w);
  const TimelineItem item = item_of(*tracks_, r.at, b.first);
  // Text of what begins left of the view stays in sight.
  const float tx = std::max(x, lanes.x), tw = x + w - tx;
  const auto label = [&](unsigned ink, Type t = Type::kSmall) {
    if (tw >= u(24)) pen.text_cut(t, tx + u(7), base_of(y, bar()), tw - u(12), ink, name_of(*c.session, item));
  };
  switch (r.kind) {
    case RowKind::kHop: return draw_hop(c, pen, c.session->event(EventId{item.item}), item, tx, y, std::max(2.f, tw));
    case RowKind::kIteration:
    case RowKind::kSpan:
      pen.fill(x, y, w, bar(), color(r.kind == RowKind::kSpan ? p.raised : p.line), u(3));
      if (r.kind == RowKind::kSpan && w > u(6)) pen.frame(x, y, w, bar(), color(p.line), u(3));
      return label(r.kind == RowKind::kIteration ? p.text : p.dim, r.kind == RowKind::kIteration ? Type::kSemiSmall : Type::kSmall);
    case RowKind::kMemory: return;
    case RowKind::kCall: {
      const HostCall& call = tracks_->gpu()->calls()[item.item];
      const bool waits = call.sync != SyncKind::kNone && call.sync != SyncKind::kStreamWaitsEvent;
      if (waits && w > u(6)) {
        pen.dash_frame(x, y, w, bar(), color(p.line_strong), u(3), u(3));
        return label(p.dim);
      }
      pen.fill(x, y, w, bar(), color(p.faint, waits ? .5f : 1), w > u(6) ? u(2) : 0);
      return label(p.panel);
    }
    case RowKind::kWork: {
      const Work& work = tracks_->gpu()->work({item.stream, item.item});
      const unsigned h = theme::hue(theme::kBackend);
      if (tracks_->gpu()->shape(work).kind == WorkKind::kKernel || w < u(5)) {
        pen.fill(x, y, w, bar(), color(h), w > u(6) ? u(2) : 0);
        return label(p.on_family);
      }
      pen.fill(x, y, w, bar(), color(p.panel), u(2));  // the stream's line must not run through the text
      pen.fill(x, y, w, bar(), color(h, .3f), u(2));
      pen.frame(x, y, w, bar(), color(h), u(2));
      return label(p.text);
    }
  }
}

// What was allocated as an area, what was reserved as a line above it; the top of the lane is the recording's peak.
void TimelinePanel::draw_memory(const Pen& pen, const Area& lanes, const DrawnRow& r) const {
  const auto& p = theme::palette();
  const MemoryDevice& d = tracks_->memory()->devices[tracks_->tracks()[r.at.track].device];
  const float h = u(TimelineLayout::pitch(RowKind::kMemory)) - u(4), base = row_y(lanes, r.at.y) + h;
  const auto top = static_cast<double>(std::max<int64_t>({1, d.peak.allocated, d.peak.reserved}));
  const auto height = [&](int64_t bytes) { return std::round(static_cast<float>(static_cast<double>(std::max<int64_t>(0, bytes)) / top) * h); };
  const auto stretches = [&](int64_t MemoryTotals::*what, const auto& draw) {
    for (size_t i = 0, e; i < r.totals.size(); i = e) {
      for (e = i + 1; e < r.totals.size() && height(r.totals[e].*what) == height(r.totals[i].*what);) e++;
      const float x0 = lanes.x + static_cast<float>(static_cast<double>(i) * kChartPixels), x1 = std::min(lanes.right(), lanes.x + static_cast<float>(static_cast<double>(e) * kChartPixels));
      draw(x0, x1 - x0, height(r.totals[i].*what));
    }
  };
  stretches(&MemoryTotals::allocated, [&](float x, float w, float y) {
    pen.fill(x, base - y, w, y, color(p.line_strong, .55f));
    pen.fill(x, base - y, w, 1, color(p.dim));
  });
  if (d.caching()) stretches(&MemoryTotals::reserved, [&](float x, float w, float y) { pen.fill(x, base - y, w, 1, color(p.faint)); });
  pen.hline(lanes.x, base, lanes.w, color(p.line));
}

// The line on which a stream's work lies: where there is only the line, the GPU stood still.
void TimelinePanel::draw_idle(const Pen& pen, const Area& lanes, const DrawnRow& r) const {
  if (r.at.row == 0) pen.hline(lanes.x, row_y(lanes, r.at.y) + bar() / 2, lanes.w, color(theme::palette().line));
}

void TimelinePanel::draw_waits(const Pen& pen, const Area& lanes) const {
  const auto& p = theme::palette();
  for (const ThreadWait& w : tracks_->waits()) {
    if (w.end < view_.from || w.begin > view_.to) continue;
    const auto track = tracks_->track_of(w.thread);
    if (!track) continue;
    const auto y = row_y(lanes, {static_cast<uint32_t>(*track), tracks_->tracks()[*track].first_hop_row});
    const float x0 = lanes.x + std::max(view_.x(w.begin), -u(8)), x1 = lanes.x + std::min(view_.x(w.end), lanes.w + u(8));
    if (!y || x1 - x0 < u(6)) continue;
    pen.dash_frame(x0, *y, x1 - x0, bar(), color(p.line_strong), u(3), u(3));
    const float tx = std::max(x0, lanes.x);
    pen.text_cut(Type::kSmall, tx + u(7), base_of(*y, bar()), x1 - tx - u(12), p.faint, w.text);
  }
}

void TimelinePanel::draw_arrows(const Pen& pen, const Area& lanes, const std::vector<TimelineArrow>& arrows) const {
  const auto& p = theme::palette();
  for (const TimelineArrow& a : arrows) {
    const auto y0 = row_y(lanes, a.from), y1 = row_y(lanes, a.to);
    if (!y0 || !y1) continue;
    float fx = view_.x(a.from_time), tx = view_.x(a.to_time);
    if (std::max(fx, tx) < -u(40) || std::min(fx, tx) > lanes.w + u(40)) continue;
    fx = lanes.x + std::clamp(fx, -u(60), lanes.w + u(60)), tx = lanes.x + std::clamp(tx, -u(60), lanes.w + u(60)) + 2;
    const bool down = *y1 > *y0;
    const ImVec2 from{fx, down ? *y0 + bar() : *y0}, to{tx, down ? *y1 : *y1 + bar()};
    const ImU32 ink = color(a.strong ? p.focus : p.faint, a.strong ? 1 : .75f);
    const float thick = (a.strong ? 2.f : 1.2f) * theme::scale(), head = u(a.strong ? 4.5f : 3.5f), dir = down ? 1.f : -1.f;
    const ImVec2 end{to.x, to.y - dir * head * 1.4f};
    if (a.kind == TimelineArrow::Kind::kWait) {
      pen.dash(from.x, from.y, end.x, end.y, color(p.dim), u(4), u(3), 1.4f * theme::scale());
    } else if (a.kind == TimelineArrow::Kind::kCall) {
      pen.vline(std::round(to.x - 2), std::min(from.y, to.y), std::abs(to.y - from.y), ink);
      continue;  // straight down, so no head is needed
    } else {
      const float bend = std::clamp(std::abs(to.y - from.y) * .6f, u(10), u(70));
      pen.dl->AddBezierCubic(from, {from.x, from.y + dir * bend}, {end.x, end.y - dir * bend}, end, ink, thick);
    }
    pen.dl->AddTriangleFilled({to.x - head, end.y}, {to.x + head, end.y}, to, a.kind == TimelineArrow::Kind::kWait ? color(p.dim) : ink);
  }
}

void TimelinePanel::draw_selection(const Context& c, const Pen& pen, const Area& lanes) const {
  const auto& p = theme::palette();
  const auto frame = [&](const TimelineItem& i) {
    const auto row = row_of(*c.session, *tracks_, i);
    std::optional<float> y;
    if (row) y = row_y(lanes, *row);
    for (const DrawnRow& r : rows_) {  // spans have no place of their own
      if (row || (i.kind != r.kind)) continue;
      for (const LaneBox& b : r.boxes) if (!b.folded() && item_of(*tracks_, r.at, b.first) == i) y = row_y(lanes, r.at.y);
    }
    if (!y) return;
    const Stretch at = stretch_of(*c.session, *tracks_, i);
    if (view_.x(at.end) < -2 || view_.x(at.begin) > lanes.w + 2) return;
    const float x0 = lanes.x + std::round(std::max(view_.x(at.begin), -u(8))), x1 = lanes.x + std::round(std::min(view_.x(at.end), lanes.w + u(8)));
    const float w = std::max(u(4), x1 - x0 - 1);
    pen.frame(x0 - u(1), *y - u(1), w + u(2), bar() + u(2), color(p.panel), u(2));
    pen.dl->AddRect({x0 - u(2), *y - u(2)}, {x0 + w + u(2), *y + bar() + u(2)}, color(p.focus), u(3), 0, 1.5f * theme::scale());
  };
  if (hovered_) {
    const float x0 = lanes.x + std::round(std::max(view_.x(hovered_->second.begin), -u(8))), x1 = lanes.x + std::round(std::min(view_.x(hovered_->second.end), lanes.w + u(8)));
    pen.frame(x0 - u(1), row_y(lanes, hovered_->first) - u(1), std::max(u(4), x1 - x0 + u(1)), bar() + u(2), color(p.text, .8f), u(2));
  }
  if (!item_) return;
  frame(*item_);
  for (const TimelineArrow& a : chosen_arrows_) {
    if (a.kind == TimelineArrow::Kind::kCall && item_->kind != RowKind::kHop) {  // the hop that leads to a chosen call or kernel
      if (const EventId e = event_of(*tracks_, *item_)) frame({RowKind::kHop, e.value});
      break;
    }
  }
}

void TimelinePanel::draw_range(const Pen& pen, const Area& axis, const Area& lanes) const {
  if (!range_) return;
  const auto& p = theme::palette();
  const float x0 = axis.x + std::clamp(view_.x(range_->first), 0.f, axis.w), x1 = axis.x + std::clamp(view_.x(range_->second), 0.f, axis.w);
  pen.fill(x0, axis.y, x1 - x0, lanes.bottom() - axis.y, color(p.focus, .08f));
  pen.vline(x0, axis.y, lanes.bottom() - axis.y, color(p.focus)), pen.vline(x1, axis.y, lanes.bottom() - axis.y, color(p.focus));
  const std::string text = duration(range_->second - range_->first);
  const float w = text_width(Type::kSemiSmall, text) + u(12), x = std::clamp((x0 + x1 - w) / 2, axis.x, std::max(axis.x, axis.right() - w));
  pen.fill(x, axis.y, w, u(18), color(p.select), u(theme::kRadius));
  pen.text(Type::kSemiSmall, x + u(6), base_of(axis.y, u(18)), p.text, text);
}

void TimelinePanel::draw_lanes(Context& c, const Pen& pen, const Area& lanes) {
  const auto& p = theme::palette();
  const float left = lanes.x - u(kTimelineLabels + theme::kPadX);
  ImGui::PushClipRect({left, lanes.y}, {lanes.right(), lanes.bottom()}, true);
  for (const PlacedTrack& t : layout_.tracks) {
    if (tracks_->tracks()[t.track].kind != Track::Kind::kCalls) pen.hline(left, row_y(lanes, t.y + t.h) - u(5), lanes.right() - left, color(p.line));
  }
  ImGui::PopClipRect();
  ImGui::PushClipRect({lanes.x, lanes.y}, {lanes.right(), lanes.bottom()}, true);
  for (const DrawnRow& r : rows_) {
    if (r.kind == RowKind::kWork) draw_idle(pen, lanes, r);
    if (r.kind == RowKind::kMemory) draw_memory(pen, lanes, r);
    for (const LaneBox& b : r.boxes) draw_box(c, pen, lanes, r, b);
  }
  draw_waits(pen, lanes);
  if (facts_stale_) {
    facts_.clear(), chosen_arrows_.clear(), sentence_.clear();
    if (item_) {
      facts_ = item_facts(*c.session, *tracks_, *item_);
      sentence_ = item_sentence(*c.session, *tracks_, *item_);
      chosen_arrows_ = item_->kind == RowKind::kCall || item_->kind == RowKind::kWork ? arrows_of(*c.session, *tracks_, *item_)
                       : item_->kind == RowKind::kHop                              ? arrows_of(*c.session, *tracks_, EventId{item_->item})
                                                                                   : std::vector<TimelineArrow>();
    }
    facts_stale_ = false;
  }
  draw_arrows(pen, lanes, arrows_);
  draw_selection(c, pen, lanes);
  draw_arrows(pen, lanes, chosen_arrows_);
  if (gap_) {
    if (const auto track = tracks_->stream_track(gap_->before ? gap_->before.stream : gap_->after.stream)) {
      if (const auto y = row_y(lanes, {static_cast<uint32_t>(*track), 0})) {
        const float x0 = lanes.x + std::max(view_.x(gap_->begin), -u(8)), x1 = lanes.x + std::min(view_.x(gap_->end), lanes.w + u(8));
        pen.dash_frame(x0, *y, std::max(2.f, x1 - x0), bar(), color(p.focus), u(4), u(3));
      }
    }
  }
  // Hits of the search: ticks at the top.
  if (finding_ && !found_work_.empty()) {
    auto i = std::partition_point(found_work_.begin(), found_work_.end(), [&](const auto& w) { return w.first < view_.from; });
    while (i != found_work_.end() && view_.x(i->first) <= lanes.w) {
      pen.fill(lanes.x + view_.x(i->first), lanes.y, 2, u(6), color(p.focus));
      const Nanoseconds next = view_.at(view_.x(i->first) + 3);
      i = std::partition_point(i + 1, found_work_.end(), [&](const auto& w) { return w.first < next; });
    }
  }
  if (finding_ && find_.active()) {
    const auto& ids = find_.ids();
    const auto first = std::partition_point(ids.begin(), ids.end(), [&](EventId e) { return c.session->stretch(e).begin < view_.from; });
    float last = -10;
    for (auto i = first; i != ids.end();) {
      const float x = view_.x(c.session->stretch(*i).begin);
      if (x > lanes.w) break;
      if (x > last + 2) pen.fill(lanes.x + x, lanes.y, 2, u(6), color(p.focus)), last = x;
      const Nanoseconds next = view_.at(x + 3);  // hits that would fall on this one are passed over at once
      i = std::partition_point(i + 1, ids.end(), [&](EventId e) { return c.session->stretch(e).begin < next; });
    }
  }
  ImGui::PopClipRect();
}

}  // namespace peel::views
