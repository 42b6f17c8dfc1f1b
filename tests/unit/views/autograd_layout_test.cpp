// Laws of the layout: nothing overlaps, edges run one way, the same input gives the same picture.
#include <random>

#include "tests/catch.h"
#include "views/autograd_layout.h"

using namespace peel::views;

namespace {

void check_laws(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges, const Layout& l) {
  REQUIRE(l.at.size() == boxes.size());
  bool overlap = false, backwards = false, outside = false;
  for (size_t i = 0; i < boxes.size(); i++) {
    outside |= l.at[i].x < -.5f || l.at[i].y < -.5f || l.at[i].x + boxes[i].w > l.w + .5f || l.at[i].y + boxes[i].h > l.h + .5f;
    for (size_t j = 0; j < i; j++)
      overlap |= l.at[i].x < l.at[j].x + boxes[j].w && l.at[j].x < l.at[i].x + boxes[i].w &&
                 l.at[i].y + .1f < l.at[j].y + boxes[j].h && l.at[j].y + .1f < l.at[i].y + boxes[i].h;
  }
  for (size_t e = 0; e < edges.size(); e++) {
    float x = l.at[edges[e].from].x;
    for (const Point& p : l.bends[e]) backwards |= p.x > x + .5f, x = p.x;
    backwards |= l.at[edges[e].to].x + boxes[edges[e].to].w > x + .5f;
  }
  CHECK_FALSE(overlap);
  CHECK_FALSE(backwards);
  CHECK_FALSE(outside);
}

}  // namespace

TEST_CASE("autograd layout: a chain is one row, the first box rightmost", "[views][layout]") {
  const std::vector<LayoutBox> boxes(4, {100, 60});
  const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}};
  const Layout l = lay_out(boxes, edges);
  check_laws(boxes, edges, l);
  CHECK(l.column == std::vector<int>{0, 1, 2, 3});
  for (const Point& p : l.at) CHECK(p.y == Approx(0).margin(.5));
  CHECK(l.at[0].x > l.at[3].x);
}

TEST_CASE("autograd layout: a leaf stands beside its user, a long edge bends around what lies between", "[views][layout]") {
  const std::vector<LayoutBox> boxes(5, {100, 60});
  // 0 -> 1 -> 2 -> 3, 0 -> 3 (a skip connection), 1 -> 4 (a leaf)
  const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}, {0, 3}, {1, 4}};
  const Layout l = lay_out(boxes, edges);
  check_laws(boxes, edges, l);
  CHECK(l.column[4] == 2);
  CHECK(l.column[3] == 3);
  REQUIRE(l.bends[3].size() == 4);  // in and out of two columns
  for (const Point& p : l.bends[3])
    for (size_t i : {1u, 2u}) CHECK((p.y <= l.at[i].y + .5f || p.y >= l.at[i].y + 60 - .5f));
  CHECK(l.bends[0].empty());
}

TEST_CASE("autograd layout: crossings that can be avoided are", "[views][layout]") {
  const std::vector<LayoutBox> boxes(6, {10, 10});
  // two chains given crosswise
  const std::vector<LayoutEdge> edges{{0, 3}, {1, 2}, {3, 4}, {2, 5}};
  const Layout l = lay_out(boxes, edges);
  check_laws(boxes, edges, l);
  CHECK((l.at[0].y < l.at[1].y) == (l.at[3].y < l.at[2].y));
  CHECK((l.at[3].y < l.at[2].y) == (l.at[4].y < l.at[5].y));
}

TEST_CASE("autograd layout: random graphs keep the laws and are deterministic", "[views][layout]") {
  std::minstd_rand random(7);
  for (int round = 0; round < 40; round++) {
    const uint32_t n = 1 + static_cast<uint32_t>(random() % 120);
    std::vector<LayoutBox> boxes;
    for (uint32_t i = 0; i < n; i++) boxes.push_back({20.f + static_cast<float>(random() % 100), 20.f + static_cast<float>(random() % 60)});
    std::vector<LayoutEdge> edges;
    for (uint32_t i = 0; i + 1 < n; i++)
      for (uint32_t k = static_cast<uint32_t>(random() % 3); k-- > 0;) edges.push_back({i, i + 1 + static_cast<uint32_t>(random() % (n - i - 1))});
    const Layout a = lay_out(boxes, edges), b = lay_out(boxes, edges);
    check_laws(boxes, edges, a);
    CHECK(a.turned == 0);
    bool same = true;
    for (size_t i = 0; i < n; i++) same &= a.at[i].x == b.at[i].x && a.at[i].y == b.at[i].y;
    CHECK(same);
  }
}

TEST_CASE("autograd layout: cycles and loops of a damaged file do no harm", "[views][layout]") {
  const std::vector<LayoutBox> boxes(3, {10, 10});
  const Layout l = lay_out(boxes, {{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  CHECK(l.turned == 2);
  CHECK(l.at.size() == 3);
  CHECK(lay_out({}, {}).at.empty());
}
