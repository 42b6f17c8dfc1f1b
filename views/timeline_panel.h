// The Timeline panel's own parts; only timeline*.cpp includes this. timeline.cpp: state and input, timeline_draw.cpp:
// lanes and arrows, timeline_side.cpp: sentence, details, search.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "views/background.h"
#include "views/matches.h"
#include "views/pen.h"
#include "views/timeline.h"
#include "views/timeline_text.h"

namespace peel::views {

class TimelinePanel : public Panel {
 public:
  const char* title() const override { return "Timeline"; }
  const char* help() const override { return "Threads, CUDA calls and streams over time, with arrows from line to kernel."; }
  void session_changed(Context&) override;
  bool busy() const override { return building_.busy() || reading_memory_ || measuring_.busy() || find_.busy(); }
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;
  void draw(Context&) override;
  bool probe(EventId, TimelineProbe&) const;

 private:
  struct Look { theme::Family family; bool known; };

  // ---- timeline.cpp
  bool prepare(Context&, const Area&);    // false: there is nothing to draw yet, and that has been said
  void follow(Context&);
  void recompute(Context&, const Area& lanes);
  void first_view(const Context&);
  void input(Context&, const Area& lanes, const Area& labels);
  void click(Context&, const TimelinePick&);
  void choose(Context&, const TimelineItem&);
  void show_item(const Session&, const TimelineItem&, bool zoom);
  void bring_row_into_sight(const RowPlace&);
  void measure(const Context&, Nanoseconds a, Nanoseconds b);
  void scroll(float pixels);
  void scroll_bar(const Pen&, const Area& lanes);
  void step_to(Context&, EventId);
  void draw_menu(Context&);

  // ---- timeline_draw.cpp
  void draw_axis(const Pen&, const Area& axis, const Area& lanes) const;
  void draw_labels(Context&, const Pen&, const Area&);
  void draw_lanes(Context&, const Pen&, const Area&);
  void draw_box(const Context&, const Pen&, const Area&, const DrawnRow&, const LaneBox&);
  void draw_hop(const Context&, const Pen&, const Event&, const TimelineItem&, float x, float y, float w);
  void draw_folded(const Context&, const Pen&, const DrawnRow&, const LaneBox&, float x, float y, float w);
  void draw_memory(const Pen&, const Area&, const DrawnRow&) const;
  void draw_idle(const Pen&, const Area&, const DrawnRow&) const;
  void draw_waits(const Pen&, const Area&) const;
  void draw_arrows(const Pen&, const Area&, const std::vector<TimelineArrow>&) const;
  void draw_range(const Pen&, const Area& axis, const Area& lanes) const;
  void draw_selection(const Context&, const Pen&, const Area&) const;
  theme::Family family_of(const Session&, KeyId);
  const std::string& name_of(const Session&, const TimelineItem&);
  float row_y(const Area& lanes, float units) const;
  std::optional<float> row_y(const Area& lanes, RowPlace) const;

  // ---- timeline_side.cpp
  float draw_head(Context&, const Pen&, const Area&);
  float draw_find(Context&, const Pen&, const Area&);
  void draw_side(Context&, const Pen&, const Area&);
  float draw_range_side(Context&, const Pen&, const Area&);
  void find_next(Context&, bool forward);
  void find_work();

  std::unique_ptr<TimelineTracks> tracks_;
  Background<std::unique_ptr<TimelineTracks>> building_;
  std::atomic<uint32_t> built_{0};
  bool built_live_ = false, placed_ = false, reading_memory_ = false;
  uint64_t memory_version_ = 0;      // of the allocator's history that the lanes show
  TimelineChoices choices_;
  TimelineLayout layout_;
  TimelineView view_;
  float scroll_ = 0;                 // pixels of the rows that are above the lanes' area
  Area lanes_{};                     // of the last frame

  // What was drawn, and for what: made anew when one of these changes.
  std::vector<DrawnRow> rows_;
  std::vector<TimelineArrow> arrows_, chosen_arrows_;
  struct Drawn {
    Nanoseconds from, to;
    double width;
    float scroll, height;
    uint64_t generation, layout;
    bool operator==(const Drawn&) const = default;
  } key_{};
  uint64_t layout_version_ = 1, data_version_ = 1;
  uint64_t folded_ = 0;

  std::optional<TimelineItem> item_;  // what is chosen here: the selected hop, or a call, work or span that leads to it
  std::optional<StreamGap> gap_;
  std::vector<TimelineFact> facts_;
  Parts sentence_;
  uint64_t seen_selection_ = UINT64_MAX;
  bool facts_stale_ = true;

  // Measuring.
  std::optional<std::pair<Nanoseconds, Nanoseconds>> range_;
  Background<RangeStats> measuring_;
  RangeStats stats_;
  Nanoseconds pressed_at_ = 0;
  float grabbed_ = 0, pressed_x_ = 0, pressed_y_ = 0;
  bool dragging_ = false, pressed_ = false, moved_by_right_ = false;
  TimelinePick menu_pick_;
  std::optional<TimelineItem> menu_item_;
  uint64_t menu_track_ = 0;
  bool open_menu_ = false;
  std::optional<std::pair<float, LaneBox>> hovered_;
  double mouse_x_ = -1;              // over the lanes in the last frame, else -1

  // Search.
  Matches find_;
  std::string find_text_, work_text_;
  bool finding_ = false, take_focus_ = false;
  std::vector<std::pair<Nanoseconds, WorkRef>> found_work_;
  const GpuActivity* found_in_ = nullptr;

  std::vector<Look> looks_;          // by KeyId
  std::unordered_map<uint64_t, std::string> names_;
};

constexpr float kTimelineLabels = 132, kTimelineAxis = 22;

}  // namespace peel::views
