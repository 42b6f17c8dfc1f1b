// Input that makes no sense is counted, never a crash; a full disk; several processes; the file itself.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <random>

#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;

namespace {

uint64_t head_word(uint16_t kind, uint16_t words, uint32_t a = 0) { return kind | uint64_t{words} << 16 | uint64_t{a} << 32; }

}  // namespace

TEST_CASE("a record without words, or one that goes beyond the head, ends its ring") {
  for (const uint16_t words : {uint16_t{0}, uint16_t{200}}) {
    Recording r;
    {
      FakeProcess p(*r);
      const uint32_t op = p.op("aten::mul", "Tensor");
      FakeThread t = p.thread(), other = p.thread();
      t.begin({.op = op});
      t.end();
      REQUIRE(r.wait_for(1));
      t.raw({head_word(2, words), 0, 0}, 3);
      t.begin({.op = op});
      other.begin({.op = op});
      other.end();
      REQUIRE(r.wait_for(2));
    }
    r.finish();
    CHECK(r.one("SELECT count(*) FROM event") == "2");
    CHECK(r.lost("damaged rings") == 1);
  }
}

TEST_CASE("unknown kinds, short records and ids that were never defined") {
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    t.raw({head_word(99, 2), 0}, 2);
    t.raw({head_word(1, 2), 5}, 2);            // a Begin of two words
    t.raw({head_word(3, 1)}, 1);               // a Tensor of one
    t.begin({.op = 77, .kernel = 78, .tls = 79, .stack = 80});
    t.begin({.op = 0, .kind = static_cast<wire::HopKind>(200)});
    wire::Tensor lies{};
    lies.head = {wire::RecordKind::kTensor, sizeof lies / 8, 0};
    lies.impl = 1;
    lies.ndim = 200;  // sizes that are not there
    std::vector<uint64_t> words(sizeof lies / 8);
    std::memcpy(words.data(), &lies, sizeof lies);
    t.raw(words, static_cast<uint32_t>(words.size()));
    wire::Value value{};
    value.head = {wire::RecordKind::kValue, sizeof value / 8, 1};
    value.type = wire::ValueType::kIntList;
    value.count = 1u << 31;
    words.resize(sizeof value / 8);
    std::memcpy(words.data(), &value, sizeof value);
    t.raw(words, static_cast<uint32_t>(words.size()));
    t.end();
    t.end();
    t.end();  // of nothing
    t.span_end();
    t.tensor(0, {.impl = 5, .storage = 6, .sizes = {1}});
    t.begin({.time = UINT64_MAX});  // the far future
    t.end();
  }
  r.finish();
  CHECK(r.rows("SELECT id, op, kind, kernel, tls, stack FROM event") == Rows{"1|-|0|-|-|-", "2|-|0|-|1|-", "3|-|0|-|1|-"});
  CHECK(r.one("SELECT max(begin_ns) < 60000000000 FROM event") == "1");
  CHECK(r.lost("unknown records") == 1);
  CHECK(r.lost("unknown ids") == 4);
  CHECK(r.lost("unknown hop kinds") == 1);
  CHECK(r.lost("damaged records") == 4);
  CHECK(r.lost("ends without a begin") == 2);
  CHECK(r.lost("values outside of a hop") == 1);
  CHECK(r.rows("SELECT * FROM argument").empty());
}

TEST_CASE("a value reported twice for one place does not stop the recording") {
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    t.begin({.op = p.op("aten::mul", "Tensor")});
    t.value(0, int64_t{1});
    t.value(0, int64_t{2});
    t.end();
  }
  r.finish();
  CHECK(r.rows("SELECT value FROM call_argument") == Rows{"1"});
  CHECK(r.lost("duplicate rows") == 1);
}

TEST_CASE("damaged definitions refuse their process, not the recording") {
  Recording r;
  {
    FakeProcess bad(*r, 1 << 20, 1);
    uint64_t* at = bad.arena().reserve(2);
    at[0] = 0;  // words = 0
    at[1] = 0;
    bad.arena().publish(2);
    FakeThread t = bad.thread();
    t.begin({.op = 1});
    for (int i = 0; i < 5000 && bad.memory().control->recording.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(bad.memory().control->recording.load() == 0);
    FakeProcess good(*r, 1 << 20, 2);
    FakeThread u = good.thread();
    u.begin({.op = good.op("aten::mul", "Tensor")});
    u.end();
  }
  r.finish();
  CHECK(r.one("SELECT op FROM hop") == "aten::mul.Tensor");
  CHECK(r.lost("refused processes") == 1);
}

TEST_CASE("random words in ring and arena") {
  std::mt19937_64 random(12345);
  for (int round = 0; round < 20; ++round) {
    Recording r;
    {
      FakeProcess p(*r, wire::kMinRingBytes);
      FakeThread t = p.thread();
      for (int i = 0; i < 300; ++i) {
        std::vector<uint64_t> words(3 + random() % 12);
        for (uint64_t& w : words) w = random() % 3 ? random() % 64 : random();
        words[0] = head_word(static_cast<uint16_t>(random() % 14), static_cast<uint16_t>(words.size()), static_cast<uint32_t>(random() % 8 ? random() % 4 : random()));
        if (!t.raw(words, static_cast<uint32_t>(words.size()))) break;
        if (i % 3) continue;
        std::vector<uint64_t> def(3 + random() % 8);
        for (uint64_t& w : def) w = random() % 3 ? random() % 16 : random();
        def[0] = random() % 14 | uint64_t{def.size()} << 32;
        uint64_t* at = p.arena().reserve(static_cast<uint32_t>(def.size()));
        if (!at) break;
        std::memcpy(at, def.data(), def.size() * 8);
        p.arena().publish(static_cast<uint32_t>(def.size()));
      }
    }
    r.finish();
    CHECK(r.one("PRAGMA integrity_check") == "ok");
    CHECK(r.one("SELECT value FROM meta WHERE key='state'") == "complete");
  }
}

TEST_CASE("two processes: one numbering for operators, keys and kernels; threads and parents of their own") {
  Recording r;
  {
    FakeProcess parent(*r, 1 << 20, 100), child(*r, 1 << 20, 200);
    parent.op("aten::first", "");
    const uint32_t a = parent.op("aten::mul", "Tensor"), b = child.op("aten::mul", "Tensor");
    REQUIRE(a != b);
    const uint32_t ka = parent.kernel(a, key::CPU), kb = child.kernel(b, key::CPU);
    FakeThread t = parent.thread("p"), u = child.thread("c");
    t.begin({.op = a, .kernel = ka});
    REQUIRE(r.wait_for(1));
    u.begin({.op = b, .kernel = kb});
    u.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
    u.end();
    t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
    t.end();
  }
  r.finish();
  CHECK(r.rows("SELECT id, parent, thread, op, kernel FROM event") == Rows{"1|-|1|2|1", "2|-|2|2|1"});
  CHECK(r.rows("SELECT event, tensor FROM argument").size() == 2);
  CHECK(r.one("SELECT count(DISTINCT tensor) FROM argument") == "2");
  CHECK(r.rows("SELECT os_id FROM process") == Rows{"100", "200"});
  CHECK(r.one("SELECT count(*) FROM dispatch_key") == "143");
}

TEST_CASE("a process that numbers keys differently is refused, and told so") {
  Recording r;
  {
    FakeProcess first(*r, 1 << 20, 1);
    FakeThread t = first.thread();
    t.begin({.op = first.op("aten::mul", "Tensor")});
    t.end();
    REQUIRE(r.wait_for(1));
    FakeProcess second(*r, 1 << 20, 2, false);
    second.key(key::CPU, "CUDA", 16, 1, 2);
    FakeThread u = second.thread();
    u.begin({.op = second.op("aten::mul", "Tensor")});
    for (int i = 0; i < 5000 && second.memory().control->recording.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(second.memory().control->recording.load() == 0);
    CHECK(first.memory().control->recording.load() == 1);
  }
  r.finish();
  CHECK(r.one("SELECT count(*) FROM event") == "1");
  CHECK(r.one("SELECT meaning FROM loss WHERE name='refused processes'").find("numbers dispatch keys differently") != std::string::npos);
}

TEST_CASE("a greeting that is wrong is refused with a sentence") {
  Recording r;
  wire::Memory memory;
  REQUIRE(wire::create_memory(1 << 20, &memory));
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
  wire::Hello hello{wire::kMagic, wire::kVersion + 1, 1, 0, 1 << 20, ""};
  const Status status = (*r).attach(dup(memory.fd), ends[1], &hello, sizeof hello);
  CHECK_FALSE(status);
  CHECK(status.error().find("another version") != std::string::npos);
  uint8_t answer = 9;
  CHECK(recv(ends[0], &answer, 1, 0) == 1);
  CHECK(answer == 0);
  close(ends[0]);
  memory.close();
  r.finish();
  CHECK(r.lost("refused processes") == 1);
}

TEST_CASE("a full disk: one sentence, recording stops, what was committed can be read") {
  // in a child, since a limit on file sizes is the process' own
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string path = "/tmp/peel-full-" + std::to_string(getpid()) + ".peel";
    auto drain = Drain::create({path});
    int bad = drain ? 0 : 1;
    if (drain) {
      FakeProcess p(**drain);
      const rlimit limit{4 << 20, 4 << 20};
      setrlimit(RLIMIT_FSIZE, &limit);
      if (!p.attached()) bad |= 2;
      const uint32_t op = p.op("aten::mul", "Tensor");
      FakeThread t = p.thread();
      for (int i = 0; i < 2'000'000 && t.begin({.op = op}); ++i) t.end();
      if ((*drain)->trouble().find(path) == std::string::npos) bad |= 4;
      if (p.memory().control->recording.load() != 0) bad |= 8;
      t.close();
      p.exit();
      if ((*drain)->finish("complete", 0)) bad |= 16;
      if (std::stoll(sql_one(path, "SELECT count(*) FROM event") + " ") < 1000) bad |= 32;
      if (sql_one(path, "SELECT value FROM meta WHERE key='state'") == "complete") bad |= 64;
    }
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
    _exit(bad);
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("memory that a limit on file sizes does not allow is not made, instead of a signal") {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit limit{4 << 20, 4 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    wire::Memory memory;
    _exit(wire::create_memory(1 << 20, &memory) ? 1 : 0);
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
}

TEST_CASE("a size bound stops recording and says truncated") {
  Recording r({.max_bytes = 1 << 20});
  {
    FakeProcess p(*r);
    const uint32_t op = p.op("aten::mul", "Tensor");
    FakeThread t = p.thread();
    for (int i = 0; i < 2'000'000 && t.begin({.op = op}); ++i) t.end();
    CHECK(p.memory().control->recording.load() == 0);
  }
  r.finish();
  CHECK(r.one("SELECT value FROM meta WHERE key='state'") == "truncated");
  CHECK(r.lost("size bound") == 1);
}

TEST_CASE("alive: while the drain records, and no longer") {
  Recording r;
  CHECK(Drain::alive(r.path));
  CHECK_FALSE(Drain::create({r.path}));
  CHECK_FALSE(Drain::alive(r.path + "x"));
  r.finish();
  CHECK_FALSE(Drain::alive(r.path));
  CHECK(Drain::create({r.path}));
}

TEST_CASE("finish waits for readers to let go, then leaves one file") {
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    t.begin({.op = p.op("aten::mul", "Tensor")});
    t.end();
    REQUIRE(r.wait_for(1));
  }
  sqlite3* reader = nullptr;
  REQUIRE(sqlite3_open_v2(r.path.c_str(), &reader, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_exec(reader, "SELECT count(*) FROM event", nullptr, nullptr, nullptr) == SQLITE_OK);
  bool alive = false;
  std::thread watcher([&] {
    for (int i = 0; i < 2000 && r.one("SELECT value FROM meta WHERE key='state'") != "complete"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    alive = Drain::alive(r.path);
    sqlite3_close(reader);
  });
  r.finish();
  watcher.join();
  CHECK(alive);
  CHECK_FALSE(std::filesystem::exists(r.path + "-wal"));
  CHECK(r.one("PRAGMA journal_mode") == "delete");
}

TEST_CASE("a drain that is killed leaves a file that opens, says it is running, and has no live drain") {
  TempDir dir;
  const std::string path = dir.file("killed.peel");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    auto drain = Drain::create({path});
    FakeProcess p(**drain);
    FakeThread t = p.thread();
    const uint32_t op = p.op("aten::mul", "Tensor");
    for (int i = 0; i < 1000; ++i) t.begin({.op = op}), t.end();
    while (sql_one(path, "SELECT count(*) FROM event") != "1000") usleep(1000);
    if (write(ends[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char c;
  REQUIRE(read(ends[0], &c, 1) == 1);
  CHECK(Drain::alive(path));
  kill(pid, SIGKILL);
  REQUIRE(waitpid(pid, nullptr, 0) == pid);
  CHECK_FALSE(Drain::alive(path));
  CHECK(sql_one(path, "SELECT count(*), count(end_ns) FROM event") == "1000|1000");
  CHECK(sql_one(path, "SELECT value FROM meta WHERE key='state'") == "running");
  CHECK(sql_one(path, "PRAGMA integrity_check") == "ok");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("a file that cannot be made is one sentence") {
  TempDir dir;
  auto drain = Drain::create({dir.file("no/such/folder.peel")});
  REQUIRE_FALSE(drain);
  CHECK(drain.error().find("no/such/folder.peel") != std::string::npos);
  CHECK_FALSE(Drain::create({dir.path}));
}

TEST_CASE("output, facts, meta and source") {
  Recording r;
  const std::string source = r.dir_.file("program.py");
  std::ofstream(source) << "print('hi')\n";
  const std::string library = r.dir_.file("site-packages");
  std::filesystem::create_directory(library);
  std::ofstream(library + "/lib.py") << "x\n";
  (*r).set_meta("program", "program.py");
  {
    FakeProcess p(*r);
    p.fact("engine", "pytorch");
    FakeThread t = p.thread();
    const uint32_t op = p.op("aten::mul", "Tensor");
    t.begin({.op = op, .stack = p.stack(p.stack(0, library + "/lib.py", 1, "f"), source, 1, "<module>")});
    t.end();
    REQUIRE(r.wait_for(1));
    (*r).output(1, "hi\n", wire::monotonic_ns());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    t.begin({.op = op});
    t.end();
    (*r).output(2, "bye\n", wire::monotonic_ns());
  }
  r.finish();
  CHECK(r.rows("SELECT stream, text, after_event FROM output") == Rows{"1|hi\n|1", "2|bye\n|2"});
  CHECK(r.rows("SELECT value FROM meta WHERE key IN ('engine', 'program') ORDER BY key") == Rows{"pytorch", "program.py"});
  CHECK(r.rows("SELECT path = '" + source + "', text FROM source") == Rows{"1|print('hi')\n"});
  CHECK(std::stoll(r.one("SELECT value FROM meta WHERE key='started_unix_ns'")) > 1'700'000'000'000'000'000);
}

TEST_CASE("times are nanoseconds since the start") {
  Recording r;
  const int64_t started = wire::monotonic_ns();
  int64_t before = 0, after = 0;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    const uint32_t op = p.op("aten::mul", "Tensor");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    before = wire::monotonic_ns() - started;
    t.begin({.op = op});
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    t.end();
    after = wire::monotonic_ns() - started;
  }
  r.finish();
  const int64_t begin = std::stoll(r.one("SELECT begin_ns FROM event")), end = std::stoll(r.one("SELECT end_ns FROM event"));
  CHECK(begin > before - 1'000'000);
  CHECK(end < after + 100'000'000);  // the session starts a little before `started`
  CHECK(end - begin > 29'900'000);
}
