// The allocator's history over a stretch as a picture: totals per column, and every allocation as a band of its size from its
// beginning to its end, stacked. What is thinner than a pixel is folded into one band and counted, so that the cost follows the
// pixels. The horizontal axis counts the device's allocator events: allocations come in bursts, and equal times would hide them.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "views/memory_model.h"

namespace peel::views {

struct MemoryBands {
  struct Piece {         // a stretch of a band at one height; kNoIndex = the folded rest
    LifeIndex life;
    double from, to;     // positions among the device's events
    int64_t low, high;   // bytes
  };
  struct Stretch {       // what the program did: a line of the user's, or backward
    double from, to;
    std::string label;
    MemoryIndex event;   // the first
  };
  struct Label {         // what a piece that is big enough is: its operator, its line
    size_t piece;
    std::string text;
  };
  struct Column {
    MemoryTotals highest;
    int64_t folded = 0;  // bytes above the bands
  };
  uint16_t device = 0;
  double from = 0, to = 0;
  std::vector<Piece> pieces;        // by beginning
  std::vector<Column> columns;      // equal shares of [from, to)
  std::vector<Stretch> stretches;
  std::vector<Label> labels;
  int64_t top = 0;                  // of the vertical axis, bytes
  uint64_t bands = 0, folded = 0;   // allocations in sight: drawn, folded
};
constexpr size_t kMostBands = 2500, kMostPieces = 12000;

/// `columns` and `rows`: pixels. Positions count the device's events; `to` may lie beyond the last.
MemoryBands make_bands(const MemoryNames&, uint16_t device, double from, double to, int columns, int rows, const std::atomic<bool>& cancelled);
/// The band at a place of the picture; null = none. kNoIndex in it: the folded rest.
const MemoryBands::Piece* piece_at(const MemoryBands&, double position, int64_t bytes);

}  // namespace peel::views
