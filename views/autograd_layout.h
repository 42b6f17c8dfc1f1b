// Places the boxes of a graph in columns so that every edge runs from right to left.
//
// Algorithm (Sugiyama's): a box's column is its longest path from a box that nothing points to; edges over several
// columns get a bend in each; the order within columns is swept by barycentres, keeping the order with the fewest
// crossings; heights come from least squares under "no overlap" (pool adjacent violators). All ties are broken by
// index: the same input gives the same picture.
#pragma once
#include <cstdint>
#include <vector>

namespace peel::views {

struct LayoutBox {
  float w, h;
};
struct LayoutEdge {
  uint32_t from, to;  // the gradient flows from `from` (right) to `to` (left)
};
struct LayoutOptions {
  float column_gap = 28, row_gap = 20, bend_height = 8;
};
struct Point {
  float x, y;
};
struct Layout {
  std::vector<Point> at;                   // upper left corner of each box; all >= 0
  std::vector<int> column;                 // 0 = rightmost
  std::vector<std::vector<Point>> bends;   // per edge, between its ends, from right to left
  float w = 0, h = 0;
  uint32_t turned = 0;                     // edges that closed a cycle and run the wrong way (hostile input)
};
Layout lay_out(const std::vector<LayoutBox>&, const std::vector<LayoutEdge>&, const LayoutOptions& = {});

}  // namespace peel::views
