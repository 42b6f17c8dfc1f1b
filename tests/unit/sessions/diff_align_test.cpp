#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "sessions/diff_align.h"
#include "tests/catch.h"

using namespace peel;

namespace {

using Tokens = std::vector<uint64_t>;
using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Tokens tokens(const char* text) {
  Tokens t;
  for (; *text; ++text) t.push_back(static_cast<uint64_t>(*text) * 0x9e3779b97f4a7c15);
  return t;
}

Pairs mirrored(Pairs p) {
  for (auto& [a, b] : p) std::swap(a, b);
  return p;
}

/// Ascending on both sides, equal tokens only.
bool sound(const Tokens& a, const Tokens& b, const Pairs& p) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i].first >= a.size() || p[i].second >= b.size() || a[p[i].first] != b[p[i].second]) return false;
    if (i && (p[i].first <= p[i - 1].first || p[i].second <= p[i - 1].second)) return false;
  }
  return true;
}

size_t longest_common(const Tokens& a, const Tokens& b) {
  std::vector<size_t> row(b.size() + 1);
  for (const uint64_t x : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = x == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

Tokens random_tokens(std::mt19937& random, size_t n, uint32_t kinds) {
  Tokens t(n);
  for (uint64_t& x : t) x = random() % kinds + 1;
  return t;
}

double seconds(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("alignment of short sequences", "[sessions][diff]") {
  CHECK(align({}, {}).empty());
  CHECK(align(tokens("abc"), {}).empty());
  CHECK(align(tokens("abc"), tokens("abc")) == Pairs{{0, 0}, {1, 1}, {2, 2}});
  CHECK(align(tokens("abc"), tokens("axbc")) == Pairs{{0, 0}, {1, 2}, {2, 3}});    // insertion
  CHECK(align(tokens("abcd"), tokens("acd")) == Pairs{{0, 0}, {2, 1}, {3, 2}});    // deletion
  CHECK(align(tokens("abcd"), tokens("abxd")) == Pairs{{0, 0}, {1, 1}, {3, 3}});   // change
  CHECK(align(tokens("abcdef"), tokens("acdebf")).size() == 5);                    // b moved
  CHECK(align(tokens("aaaa"), tokens("aaa")).size() == 3);                         // repeated
  CHECK(align(tokens("xyz"), tokens("abc")).empty());
}

TEST_CASE("alignment is shortest where it can be, and mirrors", "[sessions][diff]") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    const Tokens a = random_tokens(random, below(60), 1 + below(12)), b = random_tokens(random, below(60), 1 + below(12));
    const Pairs p = align(a, b);
    REQUIRE(sound(a, b, p));
    REQUIRE(p.size() == longest_common(a, b));
    REQUIRE(align(b, a) == mirrored(p));
  }
}

TEST_CASE("alignment of long sequences stays sound and mirrors when it gives up on the shortest", "[sessions][diff]") {
  std::mt19937 random(11);
  for (const uint32_t kinds : {2u, 40u, 100000u}) {
    const Tokens a = random_tokens(random, 6000, kinds), b = random_tokens(random, 5000, kinds);
    const Pairs p = align(a, b);
    REQUIRE(sound(a, b, p));
    REQUIRE(align(b, a) == mirrored(p));
    if (kinds == 2) CHECK(p.size() > 2500);
  }
}

TEST_CASE("a long insertion does not lose what follows", "[sessions][diff]") {
  // 300 rounds of a loop; 5,000 calls of code that the other has not, then 40 rounds more, and a few changes.
  Tokens a, b;
  for (uint64_t round = 0; round < 300; ++round) {
    for (uint64_t line = 1; line <= 20; ++line) {
      a.push_back(line);
      if (round % 37 != 5 || line != 7) b.push_back(line);
    }
    if (round == 150) for (uint64_t i = 0; i < 5000; ++i) b.push_back(1000 + i % 50);
  }
  for (uint64_t i = 0; i < 40 * 20; ++i) b.push_back(i % 20 + 1);
  b.push_back(77);
  a.push_back(77);
  const Pairs p = align(a, b);
  REQUIRE(sound(a, b, p));
  CHECK(p.size() >= 300 * 20 + 1 - 8);
}

TEST_CASE("work is bounded on hostile input", "[sessions][diff]") {
  std::mt19937 random(3);
  const Tokens a = random_tokens(random, 200000, 300), b = random_tokens(random, 200000, 300);
  Tokens up(100000), down(100000);  // every token once, in opposite orders
  for (size_t i = 0; i < up.size(); ++i) up[i] = i + 1, down[i] = up.size() - i;
  Pairs p, q;
  CHECK(seconds([&] { p = align(a, b); }) < 15);
  CHECK(seconds([&] { q = align(up, down); }) < 15);
  CHECK(sound(a, b, p));
  CHECK(sound(up, down, q));
}
