#include "views/memory.h"

#include <algorithm>

#include "views/memory_answers.h"
#include "views/memory_source.h"
#include "views/memory_tables.h"

#include "imgui_stdlib.h"  // wants imgui.h before it

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

enum class Tab : uint8_t { kHolds, kBetween, kFailed, kPools, kSegments };

class MemoryPanel : public Panel {
 public:
  const char* title() const override { return "Memory"; }
  const char* help() const override { return "The allocator over time: who holds the memory, segments and blocks, why an allocation failed."; }
  void session_changed(Context&) override;
  bool busy() const override { return loading_ || answers_.busy() || chart_.busy(); }
  std::string copy_text(Context&) override;
  bool run(Context&, std::string_view id) override;
  void draw(Context&) override;

 private:
  bool refresh(Context&);
  void follow_selection(const Context&);
  void carry_out(Context&);
  void go(Context&, MemoryIndex moment);
  float draw_head(Context&, const Pen&, const Area&);
  void draw_tabs(const Pen&, const Area&, bool map_apart);
  void draw_by(const Pen&, Area&);
  void draw_tab(const Pen&, Area);
  void draw_between(const Pen&, Area);
  void draw_failed(const Pen&, Area);
  bool has_oom() const;

  MemoryView view_;
  MemoryAnswers answers_;
  bool have_ = false, seen_ = false, loading_ = false;
  std::string error_;
  uint64_t version_ = 0, selection_ = 0;
  Tab tab_ = Tab::kHolds;
  HoldBy by_ = HoldBy::kLine;
  std::string search_;
  MemoryChart chart_;
  MemoryMap map_;
  HolderList holders_, between_;
  OomList oom_list_;
};

void MemoryPanel::session_changed(Context&) {
  answers_.forget();
  chart_.forget(), map_.forget();
  view_ = {};
  have_ = seen_ = loading_ = false, error_.clear(), search_.clear(), version_ = selection_ = 0, tab_ = Tab::kHolds;
}

bool MemoryPanel::has_oom() const {
  return view_.history && oom_near(*view_.history, view_.device, 0) != kNoIndex;
}

// ---- what is shown

/// Takes the newest history there is. False: nothing to show yet.
bool MemoryPanel::refresh(Context& c) {
  const LoadedMemory& m = c.memory->look(*c.session);
  loading_ = c.memory->busy();
  if (m.version != version_) {
    version_ = m.version, error_ = m.error;
    if (m.history) {
      const bool first = !view_.history || view_.history->empty();
      view_.history = m.history, view_.names = m.names;
      if (first && !view_.history->empty()) view_.device = main_device(*view_.history), seen_ = false, chart_.fit();
    }
    have_ = true;
  }
  return have_ && view_.history && !view_.history->empty() && !view_.history->devices.empty();
}

/// The effective hop moves the moment; a place chosen in this panel holds until another hop is selected.
void MemoryPanel::follow_selection(const Context& c) {
  if (seen_ && selection_ == c.selection_changes) return;
  const bool first = !seen_;
  seen_ = true, selection_ = c.selection_changes;
  view_.moment = moment_of_hop(*c.session, *view_.history, c.selected);
  chart_.reveal();
  // A hop whose allocation failed is about that; at first a hop around it, too.
  for (const MemoryIndex i : view_.history->ooms) {
    const EventId e = view_.history->events[i].event;
    if (!e || view_.history->events[i].device != view_.device || !c.selected) continue;
    if (e == c.selected || (first && c.selected < e && e <= c.session->last(c.selected))) tab_ = Tab::kFailed, view_.moment = i;
  }
}

// ---- what is asked for

void MemoryPanel::go(Context& c, MemoryIndex moment) {
  const MemoryHistory& h = *view_.history;
  moment = std::min(moment, static_cast<MemoryIndex>(h.events.size()));
  if (moment && moment <= h.events.size())
    if (const EventId e = h.events[moment - 1].event; e && e.value <= c.session->size()) c.select(e);
  selection_ = c.selection_changes;
  view_.moment = moment;
  chart_.reveal();
}

void MemoryPanel::carry_out(Context& c) {
  if (view_.pick != kNoIndex) {
    view_.life = view_.pick;
    const Life& l = view_.history->lives[view_.life];
    const EventId e = view_.names->hop(view_.life);
    if (e) {
      // The moment that is shown stays when the allocation is held at it: what is looked at must not change under the hand.
      const bool here = l.begin < view_.moment && l.freed >= view_.moment;
      const MemoryIndex moment = here ? view_.moment : l.begin + 1;
      go(c, l.begin + 1);
      view_.moment = moment;
      if (const uint32_t t = view_.history->tensor(view_.history->events[l.begin].storage)) c.tensor = TensorId(t);
    } else {
      c.notice = l.older ? "This block is older than the recording: the hop that made it is not in it." : "This block was allocated outside of any hop.";
    }
  } else if (view_.go != kNoIndex) {
    go(c, view_.go);
  }
  view_.pick = kNoIndex, view_.go = kNoIndex;
}

bool MemoryPanel::run(Context& c, std::string_view id) {
  if (!view_.history || view_.history->empty()) return false;
  if (id == "memory.mark_a") view_.mark_a = view_.moment;
  else if (id == "memory.mark_b") view_.mark_b = view_.moment, tab_ = Tab::kBetween;
  else if (id == "memory.peak" && view_.of().peak_at != kNoIndex) go(c, view_.of().peak_at + 1), tab_ = Tab::kHolds;
  else if (id == "memory.failed" && has_oom()) tab_ = Tab::kFailed, go(c, oom_near(*view_.history, view_.device, view_.moment) + 1);
  else if (id == "memory.pools") tab_ = Tab::kPools;
  else if (id == "memory.fit" || id == "timeline.fit") chart_.fit();
  else if (id == "timeline.left" || id == "timeline.right") chart_.pan(id == "timeline.left" ? -.15 : .15);
  else if (id == "timeline.closer" || id == "timeline.wider") chart_.zoom(id == "timeline.closer" ? 1 : -1);
  else {
    const bool done = tab_ == Tab::kHolds ? holders_.run(view_, answers_.moment().holders, id) : tab_ == Tab::kBetween && between_.run(view_, answers_.between().stayed, id);
    if (done) carry_out(c);
    return done;
  }
  return true;
}

std::string MemoryPanel::copy_text(Context&) {
  if (!view_.names) return "";
  std::string s = plain(moment_sentence(*view_.names, view_.device, view_.moment)) + "\n";
  switch (tab_) {
    case Tab::kHolds: return s + holders_.text(answers_.moment().holders);
    case Tab::kBetween: return s + between_.text(answers_.between().stayed);
    case Tab::kFailed: return s + oom_text(answers_.failed());
    case Tab::kPools:
    case Tab::kSegments: return s + pools_text(answers_.moment().pools);
  }
  return s;
}

// ---- drawing

/// The sentence, and to its right the devices and what can be done.
float MemoryPanel::draw_head(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  const MemoryHistory& h = *view_.history;
  float right = a.right();
  const auto button = [&](const char* id, const char* label, const char* help, bool enabled) {
    const float w = Pen::button_width(label, "");
    Hit hit;
    right -= w - u(theme::kGap);
    pen.button(id, right, a.y, label, "", &hit, false, enabled);
    right -= u(theme::kGap);
    tip(hit, help);
    return enabled && hit.clicked;
  };
  if (button("fit memory", "Fit", "Shows the whole recording.", true)) run(c, "memory.fit");
  if (button("mark b", "Mark B", "Compares with this moment: what was allocated since A and not freed.", true)) run(c, "memory.mark_b");
  if (button("mark a", "Mark A", "The first moment of a comparison.", true)) run(c, "memory.mark_a");
  if (has_oom() && button("failed", "Out of memory", "Goes to the allocation that failed.", true)) run(c, "memory.failed");
  if (button("peak", "Peak", "Goes to the moment at which most was allocated.", view_.of().peak_at != kNoIndex)) run(c, "memory.peak");
  if (h.devices.size() > 1) {
    right -= u(6);
    for (size_t d = h.devices.size(); d-- > 0;) {
      const bool on = d == view_.device;
      const float w = text_width(on ? Type::kSemi : Type::kBody, h.devices[d].name) + u(16);
      right -= w;
      const Hit hit = views::hit(("device/" + h.devices[d].name).c_str(), right, a.y, w, u(theme::kButton));
      if (on || hit.hovered) pen.fill(right, a.y, w, u(theme::kButton), theme::color(on ? p.select : p.hover), u(theme::kRadius));
      pen.text(on ? Type::kSemi : Type::kBody, right + u(8), base_of(a.y, u(theme::kButton)), on ? p.text : p.dim, h.devices[d].name);
      if (hit && !on) view_.device = static_cast<uint16_t>(d), view_.life = kNoIndex, tab_ = tab_ == Tab::kFailed ? Tab::kHolds : tab_, chart_.fit();
    }
  }
  float x = a.x;
  for (const Part& part : moment_sentence(*view_.names, view_.device, view_.moment)) {
    const float room = right - u(12) - x;
    if (room < u(20)) break;
    x += pen.text_cut(part.code ? Type::kMono : part.strong ? Type::kSemiLead : Type::kLead, x, base_of(a.y, u(theme::kButton)), room, part.code ? p.dim : p.text, part.text);
  }
  return u(theme::kButton + 8);
}

void MemoryPanel::draw_tabs(const Pen& pen, const Area& a, bool map_apart) {
  struct Choice { Tab tab; std::string label; };
  std::vector<Choice> tabs = {{Tab::kHolds, "Who holds it"}, {Tab::kBetween, "Between A and B"}};
  if (view_.of().caching()) tabs.push_back({Tab::kPools, "Pools"});
  else if (tab_ == Tab::kPools) tab_ = Tab::kHolds;
  if (has_oom()) tabs.insert(tabs.begin() + 2, {Tab::kFailed, "Out of memory"});
  if (!map_apart && view_.of().caching()) tabs.push_back({Tab::kSegments, "Segments"});
  else if (tab_ == Tab::kSegments) tab_ = Tab::kHolds;
  float x = a.x;
  for (const Choice& t : tabs) {
    Hit h;
    const bool on = t.tab == tab_;
    if (x + Pen::button_width(t.label, "", on) > a.right() + u(theme::kGap)) break;
    if (on) pen.fill(x, a.y, Pen::button_width(t.label, "", on) - u(theme::kGap), u(theme::kButton), theme::color(theme::palette().select), u(theme::kRadius));
    x += pen.button(("tab/" + t.label).c_str(), x, a.y, t.label, "", &h, on);
    if (h) tab_ = t.tab;
  }
}

/// By what the table groups, and the search field.
void MemoryPanel::draw_by(const Pen& pen, Area& a) {
  const auto& p = theme::palette();
  float x = a.x;
  const float base = base_of(a.y, u(22)), field = std::min(u(150), a.w * .3f);
  for (int k = 0; k < kHoldKinds; k++) {
    const auto by = static_cast<HoldBy>(k);
    const bool on = by == by_;
    const float w = text_width(on ? Type::kSemiSmall : Type::kSmall, hold_word(by)) + u(12);
    if (x + w > a.right() - field - u(8)) break;
    const Hit h = hit((std::string("by/") + hold_word(by)).c_str(), x, a.y, w, u(22));
    if (on || h.hovered) pen.fill(x, a.y + u(2), w, u(18), theme::color(on ? p.select : p.hover), u(theme::kRadius));
    pen.text(on ? Type::kSemiSmall : Type::kSmall, x + u(6), base, on ? p.text : p.dim, hold_word(by));
    if (h) by_ = by;
    x += w;
  }
  ImGui::SetCursorScreenPos({a.right() - field, a.y});
  ImGui::SetNextItemWidth(field);
  ImGui::PushFont(theme::font(Type::kSmall), theme::font_size(Type::kSmall));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(u(6), u(3)));
  ImGui::InputTextWithHint("##memory search", "search", &search_);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  a.y += u(26), a.h -= u(26);
}

void MemoryPanel::draw_between(const Pen& pen, Area a) {
  if (view_.mark_a == kNoIndex || view_.mark_b == kNoIndex)
    return pen.empty(a, view_.mark_a == kNoIndex && view_.mark_b == kNoIndex ? "Two moments to compare" : view_.mark_a == kNoIndex ? "B is marked" : "A is marked",
                     "Go to a moment and press Mark A, go to a later one and press Mark B: then this lists what was allocated between them and not freed.");
  draw_by(pen, a);
  const std::string words = "Allocated between A and B and still there: " + bytes_text(answers_.between().stayed.bytes) + ". Held at A and given back by B: " + bytes_text(answers_.between().went_bytes) + " in " + plural(answers_.between().went_blocks, "block") + ".";
  pen.text_cut(Type::kBody, a.x, base_of(a.y, u(22)), a.w, theme::palette().text, words);
  a.y += u(24), a.h -= u(24);
  between_.draw(view_, answers_.between().stayed, search_, a, "Everything that was allocated between the two moments was given back.");
}

void MemoryPanel::draw_failed(const Pen& pen, Area a) {
  if (answers_.failed().at == kNoIndex) return pen.empty(a, "Out of memory", "Looking at the free blocks of that moment.");
  std::vector<Run> runs;
  const auto& p = theme::palette();
  for (const Part& part : answers_.failed().sentence) runs.push_back({part.code ? Type::kMono : part.strong ? Type::kSemi : Type::kBody, p.text, part.text});
  const float lines = static_cast<float>(pen.rich_wrapped(a.x, base_of(a.y, u(21)), a.w, u(21), runs));
  a.y += lines * u(21) + u(4), a.h = std::max(u(40), a.h - lines * u(21) - u(4));
  oom_list_.draw(view_, answers_.failed(), a);
}

void MemoryPanel::draw_tab(const Pen& pen, Area a) {
  switch (tab_) {
    case Tab::kHolds:
      draw_by(pen, a);
      return holders_.draw(view_, answers_.moment().holders, search_, a, "Nothing was allocated at this moment.");
    case Tab::kBetween: return draw_between(pen, a);
    case Tab::kFailed: return draw_failed(pen, a);
    case Tab::kPools: return draw_pools(view_, answers_.moment().pools, a);
    case Tab::kSegments: return map_.draw(view_, answers_.moment().state, a);
  }
}

void MemoryPanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; then this shows where its memory went.");
  if (!refresh(c)) {
    if (!have_ || !c.session->progress().ready) return pen.empty(a, "Reading the allocator's history", "Allocations, frees, segments.");
    if (!error_.empty()) return pen.empty(a, "The allocator's history cannot be read", error_);
    return pen.empty(a, "No allocations in this recording",
                     c.session->live() ? "They appear here as the program allocates." : "Record the program again with this version of Peel: peel record writes what the allocators did.");
  }
  follow_selection(c);
  answers_.refresh(view_, by_, tab_ == Tab::kFailed);
  float y = a.y - u(2);
  y += draw_head(c, pen, {a.x, y, a.w, u(theme::kButton)});
  const float below = std::max(u(120), (a.bottom() - y) * .5f), chart = std::max(u(70), a.bottom() - y - below - u(8));
  chart_.draw(view_, {a.x, y, a.w, chart});
  y += chart + u(8);
  const std::string trouble = view_.history->trouble_text();
  const float foot = trouble.empty() && !view_.history->older_frees && !chart_.bands().folded ? 0 : u(18);
  const Area rest{a.x, y, a.w, std::max(u(60), a.bottom() - y - foot)};
  const bool map_apart = rest.w > u(760) && view_.of().caching();  // only the caching allocator has segments
  Area table = rest;
  if (map_apart) {
    const float w = std::round(rest.w * .42f);
    map_.draw(view_, answers_.moment().state, {rest.x, rest.y, w, rest.h});
    table.x += w + u(24), table.w -= w + u(24);
  }
  draw_tabs(pen, table, map_apart);
  table.y += u(theme::kButton + 6), table.h = std::max(u(40), table.h - u(theme::kButton + 6));
  draw_tab(pen, table);
  if (foot > 0) {
    std::string words = plural(chart_.bands().bands, "allocation") + " drawn";
    if (chart_.bands().folded) words += ", " + count_text(chart_.bands().folded) + " in sight folded";
    if (view_.history->older_frees) words += "; " + plural(view_.history->older_frees, "free") + " of blocks older than the recording";
    if (!trouble.empty()) words += "; the recording does not fit together: " + trouble;
    pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(14), u(18)), a.w, theme::palette().faint, words);
  }
  carry_out(c);
}

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace peel::views
