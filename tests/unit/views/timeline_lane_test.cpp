// The pyramid of one lane: against counting every item, for any zoom; open, overlapping and absurd items.
#include "views/timeline_lane.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"

using namespace peel;
using namespace peel::views;

namespace {

struct Made final : Stretches {
  std::vector<Stretch> all;
  Lane lane;
  Stretch operator()(uint32_t i) const override { return all[i]; }
  void add(Nanoseconds begin, Nanoseconds end) {
    all.push_back({begin, end});
    lane.append(static_cast<uint32_t>(all.size() - 1), all.back());
  }
  std::vector<LaneBox> boxes(Nanoseconds from, Nanoseconds to, Nanoseconds fold, Nanoseconds now = 1 << 30, size_t limit = 1 << 30) const {
    std::vector<LaneBox> out;
    lane.boxes(*this, from, to, fold, now, limit, out);
    return out;
  }
};

// Lengths from nothing to long, gaps of all sizes, as programs make them.
Made random_lane(uint32_t seed, int items) {
  Made m;
  std::mt19937 r(seed);
  Nanoseconds t = 100;
  for (int i = 0; i < items; i++) {
    const Nanoseconds length = static_cast<Nanoseconds>(1 << r() % 14) - 1;
    m.add(t, t + length);
    t += length + static_cast<Nanoseconds>(r() % 4 ? r() % 20 : r() % 5000);
  }
  return m;
}

}  // namespace

TEST_CASE("lane: nothing longer than the fold is lost, sums of what is folded are right", "[timeline]") {
  for (const int items : {0, 1, 31, 32, 33, 511, 512, 513, 20000}) {
    const Made m = random_lane(static_cast<uint32_t>(items) + 7, items);
    const Nanoseconds last = items ? m.all.back().end : 1000;
    std::mt19937 r(3);
    for (int n = 0; n < 60; n++) {
      const Nanoseconds from = static_cast<Nanoseconds>(r()) % (last + 1), to = n < 3 ? last : from + static_cast<Nanoseconds>(r()) % (last / (1 + n) + 2);
      const Nanoseconds fold = std::max<Nanoseconds>(1, (to - from) / (1 + r() % 600));
      INFO(items << " items, " << from << " to " << to << ", fold " << fold);
      const auto boxes = m.boxes(from, to, fold);
      size_t seen = 0, expected = 0;
      Nanoseconds busy = 0, expected_busy = 0;
      std::vector<uint32_t> single;
      for (const LaneBox& b : boxes) {
        REQUIRE(b.first <= b.last);
        REQUIRE(b.longest >= b.first);
        REQUIRE(b.longest <= b.last);
        seen += b.count(), busy += b.busy;
        Nanoseconds longest = 0, sum = 0;
        for (uint32_t i = b.first; i <= b.last; i++) longest = std::max(longest, m.all[i].end - m.all[i].begin), sum += m.all[i].end - m.all[i].begin;
        REQUIRE(m.all[b.longest].end - m.all[b.longest].begin == longest);
        REQUIRE(sum == b.busy);
        REQUIRE(b.begin == m.all[b.first].begin);
        if (b.folded()) REQUIRE(longest < fold);
        if (!b.folded()) single.push_back(b.first);
      }
      for (uint32_t i = 0; i < m.all.size(); i++) {
        const Stretch s = m.all[i];
        if (s.end < from || s.begin > to) continue;
        expected++, expected_busy += s.end - s.begin;
        if (s.end - s.begin >= fold) REQUIRE(std::binary_search(single.begin(), single.end(), i));
      }
      REQUIRE(seen == expected);
      REQUIRE(busy == expected_busy);
      REQUIRE(std::is_sorted(boxes.begin(), boxes.end(), [](const LaneBox& a, const LaneBox& b) { return a.first < b.first; }));
      // Cost follows pixels: a cell gives one folded box, or two around a single one.
      size_t folded = 0;
      for (const LaneBox& b : boxes) folded += b.folded();
      CHECK(folded <= static_cast<size_t>((to - from) / fold + 4) + 2 * single.size());
    }
  }
}

TEST_CASE("lane: folded boxes stay what they are when the view moves", "[timeline]") {
  const Made m = random_lane(5, 30000);
  const Nanoseconds last = m.all.back().end, fold = last / 300;
  const auto a = m.boxes(last / 5, last * 3 / 5, fold), b = m.boxes(last / 4, last * 3 / 5, fold);
  size_t same = 0;
  for (const LaneBox& i : b) same += std::any_of(a.begin(), a.end(), [&](const LaneBox& j) { return i.first == j.first && i.last == j.last; });
  CHECK(same + 2 >= b.size());
}

TEST_CASE("lane: visit finds everything that touches a stretch, once and in order", "[timeline]") {
  const Made m = random_lane(11, 9000);
  std::mt19937 r(1);
  const Nanoseconds last = m.all.back().end;
  for (int n = 0; n < 100; n++) {
    const Nanoseconds from = static_cast<Nanoseconds>(r()) % last, to = from + static_cast<Nanoseconds>(r()) % (n % 2 ? 1000 : last);
    std::vector<uint32_t> seen, expected;
    m.lane.visit(m, from, to, [&](uint32_t i, Stretch) { return seen.push_back(i), true; });
    for (uint32_t i = 0; i < m.all.size(); i++) if (m.all[i].begin <= to && m.all[i].end >= from) expected.push_back(i);
    REQUIRE(seen == expected);
    CHECK(m.lane.first_from(m, from) == static_cast<uint32_t>(std::partition_point(m.all.begin(), m.all.end(), [&](Stretch s) { return s.begin < from; }) - m.all.begin()));
  }
  size_t calls = 0;
  m.lane.visit(m, 0, last, [&](uint32_t, Stretch) { return ++calls < 10; });
  CHECK(calls == 10);
}

TEST_CASE("lane: what is still open reaches until now, and is never folded away", "[timeline]") {
  Made m;
  m.add(0, kOpen);
  for (int i = 0; i < 2000; i++) m.add(10 + i, 10 + i);
  const auto boxes = m.boxes(0, 5000, 500, 4000);
  REQUIRE_FALSE(boxes.empty());
  CHECK(boxes[0].end == 4000);
  CHECK_FALSE(boxes[0].folded());
  size_t seen = 0;
  for (const LaneBox& b : boxes) seen += b.count();
  CHECK(seen == 2001);
  m.all[0].end = 100;  // it has ended meanwhile
  CHECK(m.boxes(0, 5000, 50, 4000)[0].end == 100);
}

TEST_CASE("lane: overlaps, disorder and absurd lengths neither crash nor lose anything", "[timeline][hostile]") {
  Made m;
  std::mt19937_64 r(9);
  for (int i = 0; i < 3000; i++) {
    const auto begin = static_cast<Nanoseconds>(r() >> (1 + r() % 60)), end = static_cast<Nanoseconds>(r() >> (1 + r() % 60));
    m.add(begin, end);  // also: end before begin
  }
  for (const Nanoseconds to : {Nanoseconds{1000}, Nanoseconds{1} << 40, INT64_MAX / 2}) {
    size_t seen = 0, expected = 0;
    for (const LaneBox& b : m.boxes(0, to, to / 500 + 1)) seen += b.count();
    for (const Stretch& s : m.all) expected += s.begin <= to && std::max(s.begin, s.end) >= 0;
    CHECK(seen == expected);
    CHECK(m.boxes(0, to, to / 500 + 1, 1, 100).size() <= 100);
  }
}
