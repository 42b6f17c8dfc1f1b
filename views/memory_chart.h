// The memory panel's picture over time: bands, totals, marks, and what the mouse does to them.
#pragma once
#include "views/background.h"
#include "views/memory_bands.h"
#include "views/pen.h"

namespace peel::views {

/// What the parts of the memory panel share. The parts read it and ask by `pick` and `go`; the panel carries that out.
struct MemoryView {
  std::shared_ptr<const MemoryHistory> history;
  std::shared_ptr<const MemoryNames> names;
  uint16_t device = 0;
  MemoryIndex moment = 0;          // what everything below the picture shows: the state after so many events
  LifeIndex life = kNoIndex;       // the allocation that is marked
  MemoryIndex mark_a = kNoIndex, mark_b = kNoIndex;
  LifeIndex pick = kNoIndex;       // asked for this frame: mark it and select its hop
  MemoryIndex go = kNoIndex;       // asked for this frame: show this moment
  const MemoryDevice& of() const { return history->devices[device]; }
};

class MemoryChart {
 public:
  void forget();
  void draw(MemoryView&, const Area&);
  bool busy() const { return work_.busy(); }
  /// The whole history in sight.
  void fit() { fit_ = true; }
  /// Moves, without zooming, until the moment is in sight.
  void reveal() { reveal_ = true; }
  /// Moves by a share of what is seen; zooms around the mouse, or around the middle when it is elsewhere.
  void pan(double share) { pan_ += share; }
  void zoom(double steps) { zoom_ += steps; }
  const MemoryBands& bands() const { return bands_; }

 private:
  void refresh(const MemoryView&, int columns, int rows);
  void move(const MemoryView&, const Area& plot);
  void draw_bands(const MemoryView&, const Pen&, const Area& plot, LifeIndex hovered) const;
  void draw_totals(const MemoryView&, const Pen&, const Area& plot) const;
  void draw_axis(const MemoryView&, const Pen&, const Area& plot, float lane_y) const;
  void draw_lane(MemoryView&, const Pen&, const Area& plot, float y);
  void draw_marks(const MemoryView&, const Pen&, const Area& plot) const;
  void tell(const MemoryView&, double position, const MemoryBands::Piece*) const;
  float x_of(const Area& plot, double position) const { return plot.x + static_cast<float>((position - from_) / (to_ - from_)) * plot.w; }
  float y_of(const Area& plot, int64_t bytes) const { return plot.bottom() - static_cast<float>(static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, bands_.top))) * plot.h; }

  Background<MemoryBands> work_;
  MemoryBands bands_;
  const MemoryHistory* asked_history_ = nullptr;
  uint16_t asked_device_ = 0;
  double asked_from_ = 0, asked_to_ = 0, from_ = 0, to_ = 1;
  double pan_ = 0, zoom_ = 0;  // asked for by keys, for the next frame
  int asked_columns_ = 0, asked_rows_ = 0;
  bool fit_ = true, reveal_ = false, dragged_ = false;
};

}  // namespace peel::views
