// The allocator's history: rules against numbers worked out by hand, the replay against a simulator written apart from it.
#include "sessions/memory.h"

#include <random>

#include "sessions/memory_replay.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"
#include "tests/unit/sessions/memory_story.h"

using namespace peel;
using namespace peel::test;

namespace {

/// A history written by hand.
struct Made {
  MemoryHistory h;
  Made() {
    h.streams = {0, 7}, h.pools = {"", "(1, 0)"};
    h.devices.emplace_back();
    h.devices[0].name = "cuda:0";
  }
  Made& add(MemoryAction a, uint64_t address, int64_t size, uint16_t stream = 0, uint16_t pool = 0) {
    MemoryEvent e{};
    e.id = static_cast<uint32_t>(h.events.size() + 1), e.action = a, e.address = address, e.size = size, e.stream = stream, e.pool = pool, e.life = kNoIndex;
    e.time = int64_t{e.id} * 100;
    h.events.push_back(e);
    return *this;
  }
  MemoryState end() {
    follow_history(h);
    return replay(h, 0, static_cast<MemoryIndex>(h.events.size()));
  }
};
using A = MemoryAction;

std::string words(const MemoryState& s) {
  std::string out;
  for (const MemoryBlock& b : s.blocks) out += (out.empty() ? "" : " ") + std::to_string(b.size / 512) + (b.state == BlockState::kActive ? "a" : b.state == BlockState::kPendingFree ? "p" : "-");
  return out;
}

std::vector<AllocatorSim::SegmentRow> rows_of(const MemoryHistory& h, const MemoryState& s) {
  std::vector<AllocatorSim::SegmentRow> out;
  for (const MemorySegment& g : s.segments) {
    AllocatorSim::SegmentRow r{g.address, g.size, h.streams[g.stream], !g.large, g.expandable, g.pool, {}};
    for (uint32_t i = 0; i < g.blocks; ++i) {
      const MemoryBlock& b = s.blocks[g.first_block + i];
      r.blocks.push_back({b.address, b.size, b.requested, static_cast<int>(b.state)});
    }
    out.push_back(std::move(r));
  }
  return out;
}

constexpr uint64_t kBase = 0x7f0000000000;

}  // namespace

TEST_CASE("memory: rounding, segments, splitting as PyTorch has them", "[memory]") {
  AllocatorSettings s;
  CHECK(rounded_size(s, 1) == 512);
  CHECK(rounded_size(s, 513) == 1024);
  CHECK(rounded_size(s, 1 << 20) == 1 << 20);
  CHECK(segment_size(s, 1 << 20) == 2 << 20);
  CHECK(segment_size(s, (1 << 20) + 512) == 20 << 20);
  CHECK(segment_size(s, 10 << 20) == 10 << 20);
  CHECK(segment_size(s, (10 << 20) + 512) == 12 << 20);
  CHECK(is_split(s, 2 << 20, (2 << 20) - 512, false, false));
  CHECK_FALSE(is_split(s, 20 << 20, 19 << 20, true, false));
  CHECK(is_split(s, 20 << 20, 19 << 20, true, true));
  s = AllocatorSettings::parse("max_split_size_mb:128, expandable_segments:True,roundup_power2_divisions:[256:1,512:2,1024:4,>:8],garbage_collection_threshold:0.8");
  CHECK(s.max_split_size == 128 * kMiB);
  CHECK(s.expandable_segments);
  CHECK(rounded_size(s, 700 * kMiB) == 768 * kMiB);
  CHECK(rounded_size(s, 1100 * kMiB) == 1280 * kMiB);
  CHECK(rounded_size(s, 100 * kMiB + 1) == 100 * kMiB + 512);
  CHECK(rounded_size(AllocatorSettings::parse("roundup_power2_divisions:4"), 1200) == 1536);
  for (const char* odd : {"", ":", "[", "max_split_size_mb", "max_split_size_mb:", "roundup_power2_divisions:[", "roundup_power2_divisions:[:[", "max_split_size_mb:-1,a:b:c", "max_split_size_mb:99999999999999999999"})
    CHECK(AllocatorSettings::parse(odd).max_split_size == INT64_MAX);
}

TEST_CASE("memory: which free block a request may have", "[memory]") {
  AllocatorSettings s;
  const Request r{8 * kMiB, 0, 0};
  CHECK(refusal(s, r, {8 * kMiB, 0, 0, true, false}) == Refusal::kFits);
  CHECK(refusal(s, r, {8 * kMiB, 0, 1, true, false}) == Refusal::kOtherPool);
  CHECK(refusal(s, r, {2 * kMiB, 0, 0, false, false}) == Refusal::kOtherKind);
  CHECK(refusal(s, r, {8 * kMiB, 1, 0, true, false}) == Refusal::kOtherStream);
  CHECK(refusal(s, r, {7 * kMiB, 0, 0, true, false}) == Refusal::kTooSmall);
  s.max_split_size = 20 * kMiB;
  CHECK(refusal(s, r, {20 * kMiB, 0, 0, true, false}) == Refusal::kNotToBeSplit);
  CHECK(refusal(s, {30 * kMiB, 0, 0}, {50 * kMiB, 0, 0, true, false}) == Refusal::kTooMuchLeft);
  CHECK(refusal(s, {30 * kMiB, 0, 0}, {49 * kMiB, 0, 0, true, false}) == Refusal::kFits);
}

TEST_CASE("memory: split at the front, join on both sides, worked out by hand", "[memory]") {
  Made m;
  m.add(A::kSegmentAlloc, kBase, 2 << 20).add(A::kAlloc, kBase, 1000).add(A::kAlloc, kBase + 1024, 100).add(A::kAlloc, kBase + 1536, 2048);
  CHECK(words(m.end()) == "2a 1a 4a 4089-");
  CHECK(words(replay(m.h, 0, 2)) == "2a 4094-");
  CHECK(words(replay(m.h, 0, 0)) == "");
  m = Made();
  m.add(A::kSegmentAlloc, kBase, 2 << 20).add(A::kAlloc, kBase, 1000).add(A::kAlloc, kBase + 1024, 100).add(A::kAlloc, kBase + 1536, 2048);
  m.add(A::kFreeRequested, kBase, 1000).add(A::kFreeCompleted, kBase, 1000).add(A::kFreeRequested, kBase + 1536, 2048);
  MemoryState s = m.end();
  CHECK(words(s) == "2- 1a 4p 4089-");
  CHECK(s.totals == MemoryTotals{512, 2560, 2 << 20});
  m.add(A::kFreeCompleted, kBase + 1536, 2048).add(A::kFreeRequested, kBase + 1024, 100).add(A::kFreeCompleted, kBase + 1024, 100).add(A::kSegmentFree, kBase, 2 << 20);
  MemoryHistory fresh = m.h;
  Made again;
  again.h.events = fresh.events;
  for (auto& e : again.h.events) e.life = kNoIndex;
  follow_history(again.h);
  CHECK(words(replay(again.h, 0, 8)) == "2- 1a 4093-");
  CHECK(words(replay(again.h, 0, 10)) == "4096-");
  CHECK(words(replay(again.h, 0, 11)) == "");
  CHECK(again.h.trouble_text() == "");
  CHECK(again.h.devices[0].peak == MemoryTotals{3584, 3584, 2 << 20});
  CHECK(again.h.devices[0].peak_at == 3);
  CHECK(again.h.lives.size() == 3);
  CHECK(again.h.lives[0].end == 5);
}

TEST_CASE("memory: what makes no sense is counted and does no harm", "[memory]") {
  Made m;
  m.add(A::kSegmentAlloc, kBase, 2 << 20).add(A::kSegmentAlloc, kBase + 4096, 2 << 20).add(A::kAlloc, kBase, 512).add(A::kAlloc, kBase, 512);
  m.add(A::kAlloc, kBase + (1 << 20), 512).add(A::kAlloc, kBase + (8 << 20), 512).add(A::kFreeRequested, kBase + 512, 1).add(A::kFreeCompleted, kBase, 512).add(A::kFreeCompleted, kBase, 512);
  m.add(A::kSegmentFree, kBase, 1 << 20).add(A::kSegmentFree, kBase, 2 << 20).add(A::kFreeCompleted, 0x10000, 5).add(A::kSegmentUnmap, 0x20000, 512);
  const MemoryState s = m.end();
  CHECK(s.totals.allocated == 512);  // only the one outside of every segment
  CHECK(s.totals.reserved == 0);
  CHECK(m.h.older_frees == 2);
  uint64_t all = 0;
  for (const auto& t : m.h.trouble) all += t.count;
  CHECK(all == 8);
}

TEST_CASE("memory: heap memory needs no segments; a second free is told from one that is older", "[memory]") {
  Made m;
  m.h.devices[0].name = "cpu", m.h.devices[0].cpu = true;
  m.add(A::kAlloc, 4096, 100).add(A::kAlloc, 8192, 50).add(A::kFreeCompleted, 4096, 100).add(A::kFreeCompleted, 4096, 100).add(A::kFreeCompleted, 12288, 9);
  const MemoryState s = m.end();
  CHECK(s.totals == MemoryTotals{50, 50, 0});
  CHECK(m.h.older_frees == 1);
  CHECK(m.h.trouble.size() == 1);
  CHECK(m.h.trouble[0].first == 4);
}

TEST_CASE("memory: the replay agrees with a simulated allocator at any moment", "[memory]") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Made m;
    SimOptions o;
    o.expandable = seed % 3 == 0;
    o.capacity = seed % 2 ? int64_t{300} << 20 : int64_t{1} << 40;
    if (seed % 4 == 1) o.max_split = 24 << 20;
    m.h.settings.expandable_segments = o.expandable && seed % 2, m.h.settings.max_split_size = o.max_split;
    const std::map<std::string, A> actions = {{"alloc", A::kAlloc}, {"free_requested", A::kFreeRequested}, {"free_completed", A::kFreeCompleted}, {"segment_alloc", A::kSegmentAlloc},
                                              {"segment_free", A::kSegmentFree}, {"segment_map", A::kSegmentMap}, {"segment_unmap", A::kSegmentUnmap}, {"oom", A::kOom}};
    AllocatorSim sim(o, [&](const char* action, uint64_t address, int64_t size, uint64_t stream, int pool, int64_t) {
      m.add(actions.at(action), address, size, static_cast<uint16_t>(stream ? 1 : 0), static_cast<uint16_t>(pool));
    });
    std::vector<uint64_t> held;
    std::vector<std::pair<MemoryIndex, std::vector<AllocatorSim::SegmentRow>>> seen;
    std::vector<MemoryTotals> totals;
    for (int i = 0; i < 1500; ++i) {
      const int what = pick(100);
      if (what < 50 || held.empty()) {
        const int64_t size = pick(3) == 0 ? 1 + pick(48 << 20) : pick(2) ? 1 + pick(1 << 20) : 1 + pick(6000);
        if (const uint64_t a = sim.malloc(size, pick(4) ? 0 : 7, pick(8) ? 0 : 1)) held.push_back(a);
      } else if (what < 90) {
        const size_t at = static_cast<size_t>(pick(static_cast<int>(held.size())));
        if (pick(5) == 0) sim.record_stream(held[at], pick(2) ? 7 : 9);
        sim.free(held[at]);
        held.erase(held.begin() + static_cast<long>(at));
      } else if (what < 97) {
        sim.stream_done(pick(2) ? 7 : pick(2) ? 9 : 0);
      } else if (what == 97) {
        sim.empty_cache();
      }
      if (pick(40) == 0) seen.emplace_back(static_cast<MemoryIndex>(m.h.events.size()), sim.state()), totals.push_back({sim.allocated, sim.active, sim.reserved});
    }
    follow_history(m.h);
    INFO("seed " << seed << ": " << m.h.trouble_text());
    CHECK(m.h.trouble.empty());
    CHECK(m.h.older_frees == 0);
    for (size_t i = 0; i < seen.size(); ++i) {
      const MemoryState s = replay(m.h, 0, seen[i].first);
      CHECK(s.totals == totals[i]);
      CHECK(m.h.devices[0].at(seen[i].first) == totals[i]);
      const bool same = rows_of(m.h, s) == seen[i].second;
      CHECK(same);
      if (!same) break;
    }
  }
}

TEST_CASE("memory: totals over any stretch are those of its events", "[memory]") {
  std::mt19937 random(3);
  TotalsIndex index;
  std::vector<MemoryTotals> all;
  for (int i = 0; i < 5000; ++i) {
    const MemoryTotals t{static_cast<int64_t>(random() % 1000), static_cast<int64_t>(random() % 1000), static_cast<int64_t>(random() % 1000)};
    index.push_back(t), all.push_back(t);
  }
  for (int k = 0; k < 2000; ++k) {
    const size_t a = random() % 5001, b = a + random() % (5001 - a);
    MemoryTotals most;
    for (size_t i = a; i < b; ++i) most = {std::max(most.allocated, all[i].allocated), std::max(most.active, all[i].active), std::max(most.reserved, all[i].reserved)};
    CHECK(index.highest(a, b) == most);
  }
}

TEST_CASE("memory: a whole session is read, older blocks stay older, the failed allocation is there", "[memory]") {
  for (const char* settings : {"", "expandable_segments:True", "max_split_size_mb:64"}) {
    const std::string path = test_folder() + "/story.peel";
    StoryOptions o;
    o.settings = settings;
    const MemoryStory story(path, o);
    const auto loaded = load_memory(path);
    REQUIRE(loaded);
    const MemoryHistory& h = **loaded;
    INFO(settings << " " << h.trouble_text());
    CHECK(h.trouble.empty());
    CHECK(h.older_frees == 0);
    REQUIRE(h.devices.size() == 2);
    const uint16_t gpu = h.devices[0].cpu ? 1 : 0;
    CHECK(h.devices[gpu].name == "cuda:0");
    CHECK(h.devices[gpu].live_at_start == 30);
    CHECK(h.ooms.size() == 1);
    const MemoryState last = replay(h, gpu, static_cast<MemoryIndex>(h.events.size()));
    CHECK(rows_of(h, last) == story.sim().state());
    CHECK(last.totals == MemoryTotals{story.sim().allocated, story.sim().active, story.sim().reserved});
    CHECK(h.events[h.ooms[0]].event.value == story.failed_hop());
    CHECK(h.tensor_of.size() > 10);
    CHECK(h.saved.size() > 10);
    const auto session = Session::open(path, true);
    REQUIRE(session);
    CHECK((*session)->trouble() == "");
  }
}

TEST_CASE("memory: each process has its own memory; an empty snapshot takes nothing away", "[memory]") {
  MadeSession m;
  m.sql("INSERT INTO process VALUES(2,200,1,'python',0,NULL); INSERT INTO thread VALUES(3,200,2,'main'); INSERT INTO memory_action VALUES(1,'alloc'),(2,'free_completed'),(3,'segment_alloc'),(4,'snapshot')");
  const std::string cpu = std::to_string(m.string("cpu")), cuda = std::to_string(m.string("cuda:0"));
  const auto row = [&](int thread, int action, const std::string& device, int64_t address, int64_t size) {
    m.sql("INSERT INTO memory_event(thread, time_ns, action, device, address, size, stream) VALUES(" + std::to_string(thread) + ",5," + std::to_string(action) + "," + device + "," + std::to_string(address) + "," +
          std::to_string(size) + ",0)");
  };
  row(1, 1, cpu, 4096, 100), row(3, 1, cpu, 4096, 70);  // the same address in two processes
  row(3, 2, cpu, 4096, 70);
  row(1, 3, cuda, 1 << 30, 2 << 20), row(1, 1, cuda, 1 << 30, 512), row(1, 4, cuda, 0, 0);
  m.close();
  const auto loaded = load_memory(m.path());
  REQUIRE(loaded);
  const MemoryHistory& h = **loaded;
  CHECK(h.trouble_text() == "");
  REQUIRE(h.devices.size() == 3);
  CHECK(h.devices[1].name == "cpu of process 2");
  CHECK(h.devices[0].at(6).allocated == 100);
  CHECK(h.devices[1].at(6).allocated == 0);
  CHECK(h.devices[2].at(6) == MemoryTotals{512, 512, 2 << 20});
}

TEST_CASE("memory: what CUDA's own pools gave out lies among the other events by time, as a device of its own", "[memory]") {
  MadeSession m;
  m.sql("INSERT INTO memory_action VALUES(1,'alloc'); UPDATE process SET os_id = 77 WHERE id = 1");
  const std::string cpu = std::to_string(m.string("cpu"));
  for (const int t : {10, 20, 30}) m.sql("INSERT INTO memory_event(thread, time_ns, action, device, address, size, stream) VALUES(1," + std::to_string(t) + ",1," + cpu + "," + std::to_string(t * 64) + ",8,0)");
  const auto pool = [&](int start, int64_t address, int64_t bytes, int operation, int64_t of = 0xb000) {
    m.sql("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, deviceId, address, bytes, memoryOperationType, localMemoryPoolAddress, event) VALUES(" + std::to_string(start) + "," +
          std::to_string(int64_t{77} << 24) + ",0," + std::to_string(address) + "," + std::to_string(bytes) + "," + std::to_string(operation) + "," + std::to_string(of) + ",1)");
  };
  pool(25, 4096, 1000, 0), pool(5, 512, 100, 0), pool(28, 512, 100, 1), pool(26, 8192, 70, 0, 0);  // told late, out of order; the last of no pool
  pool(27, -1, 1, 0), pool(27, 64, -1, 0), pool(27, 64, 1, 9);
  m.close();
  const auto loaded = load_memory(m.path());
  REQUIRE(loaded);
  const MemoryHistory& h = **loaded;
  CHECK(h.trouble_text() == "3 allocations of CUDA's memory pools that make no sense");
  REQUIRE(h.devices.size() == 2);
  CHECK(h.devices[1].name == "cuda:0 pools");
  CHECK(h.devices[1].cuda_pools);
  CHECK(h.devices[1].process == 1);
  std::vector<Nanoseconds> times;
  for (const MemoryEvent& e : h.events) times.push_back(e.time);
  CHECK(times == std::vector<Nanoseconds>{5, 10, 20, 25, 28, 30});
  CHECK(h.devices[1].at(h.moment_of(26)).allocated == 1100);
  CHECK(h.devices[1].at(h.moment_of(40)).allocated == 1000);
  CHECK(h.devices[1].peak.allocated == 1100);
  CHECK(h.events[3].event.value == 1);
  for (const uint32_t id : {1u, 2u, 3u}) CHECK(h.events[h.moment_of_id(id) - 1].time == id * 10);
}

TEST_CASE("memory: older files, empty tables and hostile rows", "[memory]") {
  {
    MadeSession m;
    m.sql("DROP TABLE memory_event; DROP TABLE segment; DROP TABLE block; DROP TABLE memory_action");
    m.close();
    const auto h = load_memory(m.path());
    REQUIRE(h);
    CHECK((*h)->empty());
  }
  {
    MadeSession m;
    m.close();
    CHECK((*load_memory(m.path()))->empty());
  }
  CHECK_FALSE(load_memory("/nowhere/x.peel"));
  MadeSession m;
  m.sql("INSERT INTO memory_action VALUES(1,'alloc'),(2,'free_completed'),(3,'segment_alloc'),(4,'snapshot'),(5,'oom'),(6,'nonsense'),(7,'segment_map')");
  const std::string cuda = std::to_string(m.string("cuda:0")), odd = std::to_string(m.string(""));
  for (const char* size : {"-1", "0", "512", "9223372036854775807", "-9223372036854775808", "'x'", "NULL", "1.5"})
    for (const char* address : {"0", "-1", "512", "9223372036854775807", "4096"})
      for (const char* action : {"1", "2", "3", "4", "5", "6", "7", "99", "NULL"})
        for (const std::string& device : {cuda, odd, std::string("NULL"), std::string("99999")})
          m.sql("INSERT INTO memory_event(event, thread, stack, time_ns, action, device, address, size, stream, pool, storage, free) VALUES(-5, 99999999, 4294967296, " + std::string(address) + "," + action + "," + device +
                "," + address + "," + size + ",-1," + device + ",-7," + size + ")");
  m.sql("INSERT INTO segment SELECT id, " + cuda + ", id * 100, 150, 0, 0, 0, 0, NULL, NULL, 1 FROM memory_event; INSERT INTO segment SELECT id, 7, -5, -5, 0, 0, 0, 0, 1, 1, 1 FROM memory_event");
  m.sql("INSERT INTO block SELECT id, id * 100, id * 100, 100, -5, " + cuda + " FROM memory_event; INSERT INTO block SELECT id, id * 100, id * 100 + 50, 100, 9000, 1 FROM memory_event;"
        "INSERT INTO block SELECT id, 5, -1, -1, 0, 0 FROM memory_event");
  m.close();
  const auto h = load_memory(m.path());
  REQUIRE(h);
  CHECK(!(*h)->trouble.empty());
  for (uint16_t d = 0; d < (*h)->devices.size(); ++d)
    for (MemoryIndex i = 0; i <= (*h)->events.size(); i += 7) CHECK(replay(**h, d, i).totals.allocated >= 0);
}
