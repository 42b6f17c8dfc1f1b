#include "views/autograd_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace peel::views {
namespace {

constexpr int kSweeps = 12, kRelaxations = 10;
constexpr size_t kMaxBends = 6000;  // beyond that edges run straight: time stays bounded

/// A box or a bend of an edge.
struct Vertex {
  int column = 0;
  float w = 0, h = 0, y = 0;  // y: centre
  std::vector<uint32_t> right, left;  // neighbours in the columns beside it
};

/// Columns by longest path; an edge into a box that is still being visited closes a cycle and is left out.
std::vector<int> columns_of(size_t n, const std::vector<LayoutEdge>& edges, std::vector<bool>* turned) {
  std::vector<std::vector<uint32_t>> out(n);  // edge indices
  std::vector<uint32_t> in(n, 0);
  for (uint32_t i = 0; i < edges.size(); i++) out[edges[i].from].push_back(i);
  // depth first, iteratively, to find cycles
  std::vector<uint8_t> state(n, 0);
  for (uint32_t root = 0; root < n; root++) {
    if (state[root]) continue;
    std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
    state[root] = 1;
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      if (next == out[v].size()) {
        state[v] = 2;
        stack.pop_back();
        continue;
      }
      const uint32_t e = out[v][next++], to = edges[e].to;
      if (state[to] == 1) (*turned)[e] = true;
      else if (state[to] == 0) state[to] = 1, stack.push_back({to, 0});
    }
  }
  for (uint32_t i = 0; i < edges.size(); i++) if (!(*turned)[i]) in[edges[i].to]++;
  std::vector<int> column(n, 0);
  std::vector<uint32_t> ready;
  for (uint32_t v = 0; v < n; v++) if (!in[v]) ready.push_back(v);
  for (size_t i = 0; i < ready.size(); i++)
    for (uint32_t e : out[ready[i]]) {
      if ((*turned)[e]) continue;
      const uint32_t to = edges[e].to;
      column[to] = std::max(column[to], column[ready[i]] + 1);
      if (!--in[to]) ready.push_back(to);
    }
  return column;
}

using Columns = std::vector<std::vector<uint32_t>>;

uint64_t crossings(const Columns& columns, const std::vector<Vertex>& v, std::vector<uint32_t>& place) {
  for (const auto& c : columns) for (uint32_t i = 0; i < c.size(); i++) place[c[i]] = i;
  uint64_t sum = 0;
  std::vector<uint32_t> ends, tree;
  for (size_t c = 0; c + 1 < columns.size(); c++) {
    ends.clear();
    for (uint32_t i : columns[c]) {
      const size_t from = ends.size();
      for (uint32_t j : v[i].left) ends.push_back(place[j]);
      std::sort(ends.begin() + static_cast<std::ptrdiff_t>(from), ends.end());
    }
    // inversions by a Fenwick tree
    tree.assign(columns[c + 1].size() + 1, 0);
    for (size_t k = 0; k < ends.size(); k++) {
      uint64_t not_above = 0;
      for (uint32_t i = ends[k] + 1; i; i &= i - 1) not_above += tree[i];
      sum += k - not_above;
      for (uint32_t i = ends[k] + 1; i < tree.size(); i += i & (~i + 1)) tree[i]++;
    }
  }
  return sum;
}

void order(Columns& columns, const std::vector<Vertex>& v) {
  std::vector<uint32_t> place(v.size());
  Columns best = columns;
  uint64_t fewest = crossings(columns, v, place);
  std::vector<double> weight(v.size());
  for (int sweep = 0; sweep < kSweeps && fewest; sweep++) {
    const bool leftwards = sweep % 2 == 0;
    const size_t n = columns.size();
    for (size_t k = 1; k < n; k++) {
      auto& column = columns[leftwards ? k : n - 1 - k];
      for (uint32_t i : column) {
        const auto& beside = leftwards ? v[i].right : v[i].left;
        double sum = 0;
        for (uint32_t j : beside) sum += place[j];
        weight[i] = beside.empty() ? place[i] : sum / static_cast<double>(beside.size());
      }
      std::stable_sort(column.begin(), column.end(), [&](uint32_t a, uint32_t b) { return weight[a] < weight[b]; });
      for (uint32_t i = 0; i < column.size(); i++) place[column[i]] = i;
    }
    const uint64_t now = crossings(columns, v, place);
    if (now < fewest) fewest = now, best = columns;
  }
  columns = best;
}

/// Moves the vertices of a column as little as possible (least squares) from `wish` so that none overlap.
void settle(const std::vector<uint32_t>& column, std::vector<Vertex>& v, const std::vector<double>& wish, float gap) {
  struct Block { double sum; size_t count; double mean() const { return sum / static_cast<double>(count); } };
  std::vector<Block> blocks;
  std::vector<double> offset(column.size(), 0);
  for (size_t i = 0; i < column.size(); i++) {
    if (i) offset[i] = offset[i - 1] + (v[column[i - 1]].h + v[column[i]].h) / 2 + gap;
    blocks.push_back({wish[i] - offset[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum, blocks.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Block& b : blocks)
    for (size_t k = 0; k < b.count; k++, i++) v[column[i]].y = static_cast<float>(b.mean() + offset[i]);
}

void set_heights(const Columns& columns, std::vector<Vertex>& v, float gap) {
  std::vector<double> wish;
  for (const auto& c : columns) {
    wish.assign(c.size(), 0);
    settle(c, v, wish, gap);
  }
  const size_t n = columns.size();
  for (int round = 0; round < kRelaxations; round++)
    for (size_t k = 0; k < n; k++) {
      const auto& c = columns[round % 2 ? n - 1 - k : k];
      wish.clear();
      for (uint32_t i : c) {
        double sum = 0;
        const size_t count = v[i].right.size() + v[i].left.size();
        for (uint32_t j : v[i].right) sum += v[j].y;
        for (uint32_t j : v[i].left) sum += v[j].y;
        wish.push_back(count ? sum / static_cast<double>(count) : v[i].y);
      }
      settle(c, v, wish, gap);
    }
}

}  // namespace

Layout lay_out(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges, const LayoutOptions& options) {
  Layout out;
  const size_t n = boxes.size();
  out.bends.resize(edges.size());
  if (!n) return out;
  std::vector<bool> turned(edges.size(), false);
  out.column = columns_of(n, edges, &turned);

  std::vector<Vertex> v(n);
  for (size_t i = 0; i < n; i++) v[i].column = out.column[i], v[i].w = boxes[i].w, v[i].h = boxes[i].h;
  std::vector<std::vector<uint32_t>> bends(edges.size());
  size_t made = 0;
  for (uint32_t e = 0; e < edges.size(); e++) {
    if (turned[e]) {
      out.turned++;
      continue;
    }
    uint32_t last = edges[e].from;
    const int end = out.column[edges[e].to];
    if (made + static_cast<size_t>(end - v[last].column) > kMaxBends && end - v[last].column > 1) continue;
    for (int c = v[last].column + 1; c < end; c++, made++) {
      const auto bend = static_cast<uint32_t>(v.size());
      v.push_back({});
      v.back().column = c, v.back().h = options.bend_height;
      v[last].left.push_back(bend), v[bend].right.push_back(last);
      bends[e].push_back(bend);
      last = bend;
    }
    v[last].left.push_back(edges[e].to), v[edges[e].to].right.push_back(last);
  }

  const int count = *std::max_element(out.column.begin(), out.column.end()) + 1;
  Columns columns(static_cast<size_t>(count));
  // first order: depth first from the right, so that what hangs together stays together
  std::vector<bool> seen(v.size(), false);
  for (uint32_t root = 0; root < n; root++) {
    if (seen[root] || !v[root].right.empty()) continue;
    std::vector<uint32_t> stack{root};
    while (!stack.empty()) {
      const uint32_t i = stack.back();
      stack.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      columns[static_cast<size_t>(v[i].column)].push_back(i);
      for (size_t k = v[i].left.size(); k-- > 0;) stack.push_back(v[i].left[k]);
    }
  }
  for (uint32_t i = 0; i < v.size(); i++) if (!seen[i]) columns[static_cast<size_t>(v[i].column)].push_back(i);
  order(columns, v);
  set_heights(columns, v, options.row_gap);

  // columns from the right; each as wide as its widest box
  std::vector<float> width(columns.size(), 0), left(columns.size(), 0);
  for (const Vertex& i : v) width[static_cast<size_t>(i.column)] = std::max(width[static_cast<size_t>(i.column)], i.w);
  for (size_t c = columns.size(); c-- > 0;) {
    left[c] = out.w;
    out.w += width[c] + (c ? options.column_gap : 0);
  }
  float top = v[0].y - v[0].h / 2, bottom = top;
  for (const Vertex& i : v) top = std::min(top, i.y - i.h / 2), bottom = std::max(bottom, i.y + i.h / 2);
  out.h = bottom - top;
  for (size_t i = 0; i < n; i++) {
    const auto c = static_cast<size_t>(v[i].column);
    out.at.push_back({left[c] + (width[c] - v[i].w) / 2, v[i].y - v[i].h / 2 - top});
  }
  for (size_t e = 0; e < edges.size(); e++)
    for (uint32_t b : bends[e]) {
      const auto c = static_cast<size_t>(v[b].column);
      // a bend passes its column straight
      out.bends[e].push_back({left[c] + width[c], v[b].y - top});
      out.bends[e].push_back({left[c], v[b].y - top});
    }
  return out;
}

}  // namespace peel::views
