// Who holds the memory, what stayed between two moments, why an allocation failed, and the picture: on histories made by hand.
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/memory_bands.h"
#include "views/memory_oom_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;
using A = MemoryAction;

namespace {

const std::atomic<bool> kNever{false};
constexpr uint64_t kBase = 0x7f0000000000;

struct Made {
  test::FakeSession s;
  MemoryHistory h;
  Made() {
    h.streams = {0, 0x77}, h.pools = {"", "(1, 0)"};
    h.devices.emplace_back();
    h.devices[0].name = "cuda:0";
  }
  MemoryIndex add(A a, uint64_t address, int64_t size, EventId e = {}, uint16_t stream = 0, uint16_t pool = 0) {
    MemoryEvent m{};
    m.id = static_cast<uint32_t>(h.events.size() + 1), m.action = a, m.address = address, m.size = size, m.event = e, m.stream = stream, m.pool = pool, m.life = kNoIndex;
    m.time = int64_t{m.id} * 100;
    h.events.push_back(m);
    return m.id - 1;
  }
  void release(uint64_t address) { add(A::kFreeRequested, address, 0), add(A::kFreeCompleted, address, 0); }
  EventId call(EventId parent, const char* op, StackId stack = {}) {
    const EventId e = s.hop(parent, s.op(op), Kind::kCall, key::kCpu, bit::kTensor, bit::kTensor);
    if (stack) s.at(e).stack = stack;
    return e;
  }
};

}  // namespace

TEST_CASE("memory model: grouped by line, module, operator, node, tensor", "[views][memory]") {
  Made m;
  const StackId line7 = m.s.frame("/p/train.py", 7), line9 = m.s.frame("/p/train.py", 9);
  const EventId linear = m.call({}, "aten::linear", line7), addmm = m.call(linear, "aten::addmm"), relu = m.call({}, "aten::relu", line9);
  const NodeId node = m.s.add_node(addmm, "AddmmBackward0", 1);
  const EventId run = m.s.run_node({}, node), mm = m.call(run, "aten::mm");
  m.s.at(mm).stack = {}, m.s.at(run).stack = {};
  m.s.spans_.push_back({SpanId(1), {}, "module", "net", "Net", ThreadId(1), linear, relu, 0, 1, {}, 0});
  m.s.spans_.push_back({SpanId(2), SpanId(1), "module", "net.0", "Linear", ThreadId(1), linear, addmm, 0, 1, {}, 0});
  m.add(A::kSegmentAlloc, kBase, 20 * kMiB);
  m.add(A::kAlloc, kBase, 4 * kMiB, addmm), m.h.events.back().storage = 3;
  m.add(A::kAlloc, kBase + 4 * kMiB, 2 * kMiB, relu);
  m.add(A::kAlloc, kBase + 6 * kMiB, 2 * kMiB, mm);
  m.add(A::kAlloc, kBase + 8 * kMiB, 3 * kMiB);
  m.h.tensor_of = {0, 0, 0, 12};
  m.h.saved = {{3, node.value}};
  follow_history(m.h);
  REQUIRE(m.h.trouble.empty());
  const MemoryNames names(m.s, m.h);
  const auto lives = held(replay(m.h, 0, 5));
  REQUIRE(lives.size() == 4);
  const auto by = [&](HoldBy b) {
    std::vector<std::string> out;
    for (const Holder& r : group(names, lives, b, kNever).rows) out.push_back(r.name + (r.known ? "" : " ?") + " " + std::to_string(r.bytes / kMiB));
    return out;
  };
  using Rows = std::vector<std::string>;
  CHECK(by(HoldBy::kLine) == Rows{"train.py:7 4", "mm in AddmmBackward0 2", "train.py:9 2", "outside of any hop, no line recorded ? 3"});
  CHECK(by(HoldBy::kModule) == Rows{"net.0 Linear 4", "net Net 2", "net.0 Linear, backward 2", "outside of any nn.Module ? 3"});
  CHECK(by(HoldBy::kOperator) == Rows{"linear 4", "mm in AddmmBackward0 2", "relu 2", "outside of any operator ? 3"});
  CHECK(by(HoldBy::kNode) == Rows{"AddmmBackward0 4", "saved by no node that is known ? 7"});
  CHECK(by(HoldBy::kTensor) == Rows{"t12 4", "no tensor was seen in it ? 7"});
  CHECK(group(names, lives, HoldBy::kLine, kNever).rows[0].event == addmm);
  CHECK(plain(moment_sentence(names, 0, 5)).starts_with("11.0 MiB allocated, 20.0 MiB reserved; peak 11.0 MiB"));
  CHECK(describe(names, lives[0]).find("net.0 Linear") != std::string::npos);
}

TEST_CASE("memory model: what came and stayed, what went", "[views][memory]") {
  Made m;
  m.add(A::kSegmentAlloc, kBase, 2 * kMiB);
  m.add(A::kAlloc, kBase, 512);           // goes between the moments
  m.add(A::kAlloc, kBase + 512, 512);     // stays
  const MemoryIndex a = 3;
  m.add(A::kAlloc, kBase + 1024, 512);    // comes and stays
  m.add(A::kAlloc, kBase + 1536, 512);    // comes and goes
  m.release(kBase), m.release(kBase + 1536);
  const auto b = static_cast<MemoryIndex>(m.h.events.size());
  m.release(kBase + 1024);                // after
  follow_history(m.h);
  REQUIRE(m.h.trouble.empty());
  CHECK(stayed(m.h, 0, a, b) == std::vector<LifeIndex>{2});
  CHECK(went(m.h, 0, a, b) == std::vector<LifeIndex>{0});
  CHECK(stayed(m.h, 0, b, b).empty());
  CHECK(stayed(m.h, 9, a, b).empty());
}

TEST_CASE("memory model: out of memory, every free block with its refusal", "[views][memory]") {
  Made m;
  const EventId op = m.call({}, "aten::mul", m.s.frame("/p/train.py", 7));
  m.add(A::kSegmentAlloc, kBase, 40 * kMiB);                                        // 12 free, 16 in use, 12 free
  m.add(A::kAlloc, kBase, 12 * kMiB), m.add(A::kAlloc, kBase + 12 * kMiB, 16 * kMiB);
  m.release(kBase);
  m.add(A::kSegmentAlloc, kBase + 100 * kMiB, 60 * kMiB, {}, 1);                    // free, of another stream
  m.add(A::kSegmentAlloc, kBase + 200 * kMiB, 60 * kMiB, {}, 0, 1);                 // free, of a private pool
  m.add(A::kSegmentAlloc, kBase + 300 * kMiB, 2 * kMiB);                            // free, small
  m.add(A::kSegmentAlloc, kBase + 400 * kMiB, 30 * kMiB, {}, 1), m.add(A::kAlloc, kBase + 400 * kMiB, 30 * kMiB, {}, 1);
  m.add(A::kFreeRequested, kBase + 400 * kMiB, 0);                                  // waits
  const MemoryIndex oom = m.add(A::kOom, 0, 20 * kMiB + 1, op);
  m.h.oom_free = {3 * kMiB};
  follow_history(m.h);
  REQUIRE(m.h.trouble.empty());
  const MemoryNames names(m.s, m.h);
  const OomReport r = explain_oom(names, oom, kNever);
  CHECK(r.rounded == 20 * kMiB + 512);
  CHECK(r.segment == 22 * kMiB);
  CHECK(r.event == op);
  CHECK(r.pending == 30 * kMiB);
  CHECK(r.usable_largest == 12 * kMiB);
  CHECK(r.releasable == 122 * kMiB);
  CHECK(plain(r.sentence) == "20.0 MiB for mul at train.py:7 could not be had: 146 MiB lie free in PyTorch's segments, but the largest piece that this request may use is 12.0 MiB, and the device had 3.0 MiB left for a new "
                             "segment of 22.0 MiB.");
  std::map<Refusal, int64_t> sums;
  for (const auto& s : r.reasons) sums[s.why] = s.bytes / kMiB;
  CHECK(sums == std::map<Refusal, int64_t>{{Refusal::kOtherPool, 60}, {Refusal::kOtherKind, 2}, {Refusal::kOtherStream, 60}, {Refusal::kTooSmall, 24}});
  REQUIRE(r.blocks.size() == 6);
  CHECK(r.blocks[0].block.size == 60 * kMiB);
  CHECK(r.blocks[2].pending);
  CHECK(r.blocks[3].reason == "too small by 8.0 MiB");
  CHECK(r.hints.size() == 3);  // torn apart, waiting, another stream
  CHECK(oom_near(m.h, 0, 0) == oom);
  CHECK(oom_near(m.h, 1, 0) == kNoIndex);
  const auto rows = pools(m.h, replay(m.h, 0, oom));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "large, stream 0x77");
  CHECK(rows[0].pending == 30 * kMiB);
  for (const PoolRow& p : rows) if (p.name == "large, default stream") CHECK(p.fragmentation() == .5);
}

TEST_CASE("memory model: the picture folds what cannot be seen and says so", "[views][memory]") {
  Made m;
  m.add(A::kSegmentAlloc, kBase, 20 * kMiB);
  m.add(A::kAlloc, kBase, 8 * kMiB);
  for (int i = 0; i < 500; ++i) m.add(A::kAlloc, kBase + 8 * kMiB + static_cast<uint64_t>(i) * 512, 512);
  m.add(A::kAlloc, kBase + 10 * kMiB, 2 * kMiB);  // in the middle of a free block: told, and drawn all the same
  for (int i = 0; i < 500; ++i) m.release(kBase + 8 * kMiB + static_cast<uint64_t>(i) * 512);
  follow_history(m.h);
  CHECK(m.h.trouble.size() == 1);
  const MemoryNames names(m.s, m.h);
  const auto n = static_cast<double>(m.h.devices[0].events.size());
  const MemoryBands b = make_bands(names, 0, 0, n, 300, 100, kNever);
  CHECK(b.columns.size() == 300);
  CHECK(b.bands == 2);
  CHECK(b.folded == 500);
  CHECK(b.top >= 20 * kMiB);
  CHECK(b.columns.back().highest.reserved == 20 * kMiB);
  CHECK(b.columns[120].folded > 0);
  const MemoryBands::Piece* at = piece_at(b, n / 2, 4 * kMiB);
  REQUIRE(at);
  CHECK(m.h.lives[at->life].size == 8 * kMiB);
  CHECK(piece_at(b, n / 2, 19 * kMiB) == nullptr);
  // Bands never lie on each other.
  for (const auto& x : b.pieces)
    for (const auto& y : b.pieces)
      if (&x != &y && x.from < y.to && y.from < x.to) CHECK((x.high <= y.low || y.high <= x.low));
  CHECK(make_bands(names, 0, 5, 5, 300, 100, kNever).pieces.empty());
  CHECK(make_bands(names, 7, 0, 5, 300, 100, kNever).columns.empty());
  for (double from : {-50.0, 0.0, 600.0, n, n + 100}) CHECK(make_bands(names, 0, from, from + .5, 64, 64, kNever).columns.size() == 64);
}
