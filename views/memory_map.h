// Segments and blocks to scale at one moment: a row a segment, blocks by state. Large and small segments have a scale each.
#pragma once
#include "views/memory_chart.h"

namespace peel::views {

class MemoryMap {
 public:
  /// `state` is that of the view's device, at the moment it says.
  void draw(MemoryView&, const MemoryState&, const Area&);
  void forget() { arranged_ = kNoIndex, shown_ = kNoIndex; }

 private:
  struct Row {
    uint32_t segment = kNoIndex;  // kNoIndex: a heading
    std::string text, note;
    int64_t scale = 1;            // bytes of the full width
  };
  void arrange(const MemoryView&, const MemoryState&);
  void draw_segment(MemoryView&, const MemoryState&, const Pen&, const Area&, float y, const Row&);

  std::vector<Row> rows_;
  MemoryIndex arranged_ = kNoIndex;  // the moment and the device that the rows are of
  uint16_t arranged_device_ = 0;
  LifeIndex shown_ = kNoIndex;
  VirtualList list_;
};

}  // namespace peel::views
