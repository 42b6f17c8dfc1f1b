// Ids are begin order over all threads; what is not yet certain is held back.
#include <thread>

#include "sessions/drain.h"
#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;

TEST_CASE("one thread: parents, ends, keys and the event's columns") {
  Recording r;
  {
    FakeProcess p(*r);
    const uint32_t add = p.op("aten::add", "Tensor", {"self", "other", "alpha"});
    const uint32_t autograd = p.kernel(add, key::Autograd, "autograd kernel", "VariableType_2.cpp:10");
    const uint32_t cpu = p.kernel(add, key::CPU);
    const uint32_t line = p.stack(p.stack(0, "a.py", 3, "<module>"), "a.py", 14, "step");
    FakeThread t = p.thread("MainThread");
    t.begin({add, wire::HopKind::kCall, key::AutogradCPU, kAutogradSet, kCpuTensor, autograd, 1, line});
    t.begin({add, wire::HopKind::kRedispatch, key::CPU, kCpuSet, 0, cpu, 1, line});
    t.end();
    t.end();
    t.begin({add, wire::HopKind::kMissingKernel, key::CUDA, 0, 0, 0, 1, 0});
    t.end(wire::kRaised);
  }
  r.finish("complete", 3);
  CHECK(r.rows("SELECT id, parent, op, kind, key, keyset, line FROM hop") ==
        Rows{"1|-|aten::add.Tensor|call|AutogradCPU|DispatchKeySet(CPU, AutogradCPU)|14", "2|1|aten::add.Tensor|redispatch|CPU|DispatchKeySet(CPU)|14",
             "3|-|aten::add.Tensor|missing_kernel|CUDA|-|-"});
  CHECK(r.rows("SELECT e.id, k.text, e.kernel, e.flags FROM event e LEFT JOIN keyset k ON k.id = e.arg_keyset") ==
        Rows{"1|DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)|1|0", "2|-|2|0", "3|-|-|1"});
  CHECK(r.one("SELECT count(*) FROM event WHERE end_ns >= begin_ns") == "3");
  CHECK(r.rows("SELECT rule, convention, registered_at, fallthrough FROM kernel") == Rows{"autograd kernel|unboxed|VariableType_2.cpp:10|0", "kernel|unboxed|fake.cpp:1|0"});
  CHECK(r.rows("SELECT file, line, function FROM frame ORDER BY id") == Rows{"a.py|3|<module>", "a.py|14|step"});
  CHECK(r.rows("SELECT name, flags FROM op_argument") == Rows{"self|0", "other|0", "alpha|0"});
  CHECK(r.one("SELECT os_id, process, name FROM thread") == "1000|1|MainThread");
  CHECK(r.one("SELECT os_id, name, end_ns > begin_ns FROM process") == "4242|python fake.py|1");
  CHECK(r.one("SELECT included, excluded, grad_mode FROM tls") == std::to_string(kIncluded) + "|" + std::to_string(kExcluded) + "|1");
  CHECK(r.rows("SELECT key, value FROM meta WHERE key IN ('format','state','hops','exit_code')") == Rows{"exit_code|3", "format|1", "hops|3", "state|complete"});
  CHECK(r.one("PRAGMA journal_mode") == "delete");
  CHECK(r.one("PRAGMA application_id") == std::to_string(0x5065656C));
  CHECK(r.one("PRAGMA user_version") == "1");
  CHECK(r.one("PRAGMA integrity_check") == "ok");
  CHECK(r.rows("SELECT * FROM loss").empty());
  CHECK_FALSE(std::filesystem::exists(r.path + "-wal"));
}

TEST_CASE("key sets are printed as PyTorch prints them") {
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    const uint32_t op = p.op("aten::exp", "");
    for (const uint64_t set : {uint64_t{0}, uint64_t{0x1000010003}, uint64_t{0x800000}, uint64_t{0x3800000000}, uint64_t{0x1}}) {
      t.begin({.op = op, .keyset = set});
      t.end();
    }
  }
  r.finish();
  CHECK(r.rows("SELECT keyset FROM hop") == Rows{"DispatchKeySet()", "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)", "DispatchKeySet()",
                                                         "DispatchKeySet(AutogradOther, AutogradNestedTensor)", "DispatchKeySet()"});
  CHECK(r.one("SELECT count(*) FROM dispatch_key") == "143");  // Undefined, 136 runtime keys, 6 aliases
  CHECK(r.one("SELECT max(slot) FROM dispatch_key") == "136");
  CHECK(r.one("SELECT id, functionality_bit, backend_bit, slot FROM dispatch_key WHERE name='AutogradCPU'") == "134|36|0|96");
}

TEST_CASE("two threads interleaved: ids are begin order, parents stay in their thread") {
  constexpr int kHops = 4000;
  Recording r;
  {
    FakeProcess p(*r, 1 << 18);  // small rings: waiting belongs to the test
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread a = p.thread("a"), b = p.thread("b");
    const auto work = [&](FakeThread t) {
      for (int i = 0; i < kHops / 2; ++i) {
        t.begin({.op = op});
        t.begin({.op = op, .kind = wire::HopKind::kRedispatch});
        t.end();
        t.end();
      }
    };
    std::thread first(work, std::move(a)), second(work, std::move(b));
    first.join();
    second.join();
  }
  r.finish();
  CHECK(r.one("SELECT count(*) FROM event") == std::to_string(2 * kHops));
  CHECK(r.one("SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1 WHERE b.begin_ns < a.begin_ns") == "0");
  CHECK(r.one("SELECT count(*) FROM event e JOIN event p ON p.id = e.parent WHERE e.thread <> p.thread OR e.begin_ns < p.begin_ns OR e.end_ns > p.end_ns") == "0");
  CHECK(r.rows("SELECT thread, count(*), count(parent) FROM event GROUP BY thread").size() == 2);
  CHECK(r.one("SELECT count(*) FROM event WHERE end_ns IS NULL") == "0");
  CHECK(r.lost("order not certain") == 0);
}

TEST_CASE("a busy ring holds the others back until it publishes") {
  Recording r;
  FakeProcess p(*r);
  const uint32_t op = p.op("aten::mul", "Tensor"), late = p.op("aten::late", "");
  FakeThread a = p.thread("a"), b = p.thread("b");
  a.begin({.op = op});
  a.end();
  REQUIRE(r.wait_for(1));
  b.producer().set_busy();
  const uint64_t before = wire::ticks();
  for (int i = 0; i < 10; ++i) {
    a.begin({.op = op});
    a.end();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK((*r).stats().hops == 1);
  b.begin({.op = late, .time = before});  // clears busy
  b.end();
  REQUIRE(r.wait_for(12));
  p.exit();
  r.finish();
  CHECK(r.one("SELECT id FROM hop WHERE op = 'aten::late'") == "2");
}

TEST_CASE("a ring that stays busy is given up after a second, and counted") {
  Recording r;
  FakeProcess p(*r);
  const uint32_t op = p.op("aten::mul", "Tensor");
  FakeThread a = p.thread("a"), b = p.thread("b");
  b.producer().set_busy();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  a.begin({.op = op});
  a.end();
  REQUIRE(r.wait_for(1));
  p.exit();
  r.finish();
  CHECK(r.lost("order not certain") > 0);
}

TEST_CASE("more than a ring holds, and more than an arena holds") {
  Recording r;
  constexpr int kHops = 3000;
  constexpr size_t kText = 64 * 1024;
  {
    FakeProcess p(*r, wire::kMinRingBytes);
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread t = p.thread();
    uint32_t stack = 0;
    for (int i = 0; i < kHops; ++i) {
      if (i % 2 == 0) {  // 1,500 texts of 64 KiB: the arena of 64 MiB goes round
        stack = p.stack(0, "file.py", static_cast<uint32_t>(i), std::string(kText - 8, 'f') + std::to_string(i));
      }
      t.begin({.op = op, .stack = stack});
      t.end();
    }
  }
  r.finish();
  CHECK(r.one("SELECT count(*), count(DISTINCT stack) FROM event") == "3000|1500");
  CHECK(r.one("SELECT count(*) FROM event e JOIN stack s ON s.id = e.stack JOIN string t ON t.id = s.function WHERE s.line = (e.id - 1) / 2 * 2 "
              "AND substr(t.value, " + std::to_string(kText - 7) + ") = CAST(s.line AS TEXT)") == "3000");
  CHECK(r.rows("SELECT name FROM loss WHERE name <> 'waited ns'").empty());
}

TEST_CASE("a program that is faster than the file waits, and the wait is told") {
  Recording r;
  {
    FakeProcess p(*r, wire::kMinRingBytes);
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread t = p.thread();
    for (int i = 0; i < 50000; ++i) {
      t.begin({.op = op});
      t.end();
    }
  }
  r.finish();
  CHECK(r.one("SELECT count(*) FROM event WHERE end_ns IS NOT NULL") == "50000");
  CHECK(r.lost("waited ns") > 0);
  CHECK((*r).stats().waits_ns > 0);
}

TEST_CASE("drop mode: what does not fit is counted, hops stay whole") {
  Recording r;
  uint64_t kept = 0, refused = 0;
  {
    FakeProcess p(*r, wire::kMinRingBytes);
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread t = p.thread("", wire::OnFull::kDrop);
    for (int i = 0; i < 50000; ++i) {
      if (t.begin({.op = op})) {
        ++kept;
        while (!t.end()) std::this_thread::yield();
      } else {
        ++refused;
      }
    }
    REQUIRE(refused > 0);
    REQUIRE(r.wait_for(kept));
  }
  r.finish();
  CHECK(r.one("SELECT count(*) FROM event WHERE end_ns IS NOT NULL AND parent IS NULL") == std::to_string(kept));
  CHECK(r.lost("dropped") >= static_cast<int64_t>(refused));
}

TEST_CASE("threads come and go: a ring is used again, the thread is another one") {
  Recording r;
  {
    FakeProcess p(*r);
    const uint32_t op = p.op("aten::mul", "Tensor");
    for (int i = 0; i < 3; ++i) {
      FakeThread t = p.thread("worker " + std::to_string(i));
      CHECK(t.producer().control() == &p.memory().control->ring[0]);
      t.begin({.op = op});
      t.end();
      t.close();
      for (int k = 0; k < 5000 && p.memory().control->ring[0].state.load() != wire::kFree; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  r.finish();
  CHECK(r.rows("SELECT e.id, t.name FROM event e JOIN thread t ON t.id = e.thread") == Rows{"1|worker 0", "2|worker 1", "3|worker 2"});
}

TEST_CASE("a process that is killed leaves its open hops open") {
  Recording r;
  {
    FakeProcess p(*r);
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread t = p.thread();
    for (int i = 0; i < 5; ++i) t.begin({.op = op});
    t.end();
    p.exit();
    REQUIRE(r.wait_for(5));
  }
  r.finish("crashed", 137);
  CHECK(r.rows("SELECT id, end_ns IS NULL FROM event") == Rows{"1|1", "2|1", "3|1", "4|1", "5|0"});
  CHECK(r.one("SELECT value FROM meta WHERE key='state'") == "crashed");
}

TEST_CASE("a hop that was committed while open gets its end later") {
  Recording r;
  FakeProcess p(*r);
  const uint32_t op = p.op("aten::mul", "Tensor");
  FakeThread t = p.thread();
  t.begin({.op = op});
  t.begin({.op = op});
  for (int i = 0; i < 3000 && r.one("SELECT count(*) FROM event") != "2"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(r.one("SELECT count(*), count(end_ns) FROM event") == "2|0");
  CHECK(r.one("SELECT value FROM meta WHERE key='state'") == "running");
  t.end(wire::kRaised);
  t.end();
  p.exit();
  r.finish();
  CHECK(r.rows("SELECT id, end_ns > begin_ns, flags FROM event") == Rows{"1|1|0", "2|1|1"});
}
