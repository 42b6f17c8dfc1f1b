// Following a file while it grows, to its end or to the recorder's death.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "sessions/drain.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

template <class Condition>
bool soon(Condition&& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// A second writer beside an idle drain: stands for the rows that the drain would write.
class Author {
 public:
  explicit Author(const std::string& path) {
    REQUIRE(sqlite3_open(path.c_str(), &db_) == SQLITE_OK);
    sqlite3_busy_timeout(db_, 5000);
  }
  ~Author() { sqlite3_close(db_); }
  void write(const std::string& sql) {
    char* error = nullptr;
    const int rc = sqlite3_exec(db_, ("BEGIN IMMEDIATE;" + sql + ";COMMIT").c_str(), nullptr, nullptr, &error);
    INFO(sql << ": " << (error ? error : ""));
    sqlite3_free(error);
    REQUIRE(rc == SQLITE_OK);
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace

TEST_CASE("live: a growing file is followed to its end", "[sessions][live]") {
  const std::string path = test_folder() + "/live.peel";
  auto drain = Drain::create({.path = path});
  REQUIRE(drain);
  auto opened = Session::open(path, true);
  INFO((opened ? "" : opened.error()));
  REQUIRE(opened);
  const Session& s = **opened;
  CHECK(s.live());
  CHECK(s.size() == 0);
  CHECK(soon([&] { return s.meta("state") == "running"; }));  // the writer commits it on a thread of its own
  {
    Author a(path);
    a.write("INSERT INTO string VALUES(1,'AddBackward0'),(2,'float32'); INSERT INTO op VALUES(1,'aten::add','Tensor',NULL); INSERT INTO thread VALUES(1,5,1,NULL);"
            "INSERT INTO event VALUES(1,NULL,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL,100,NULL,0)");
    REQUIRE(soon([&] { return s.size() == 1; }));
    CHECK(s.event(EventId{1}).end == kOpen);
    CHECK(s.op(s.event(EventId{1}).op).full == "aten::add.Tensor");
    CHECK(s.arguments(EventId{1}).empty());
    const uint64_t before = s.generation();
    // The open hop ends, a hop below it comes, a node that was only named is reported.
    a.write("UPDATE event SET end_ns=900, flags=1 WHERE id=1; INSERT INTO event VALUES(2,1,1,1,1,NULL,NULL,NULL,NULL,NULL,NULL,200,300,0);"
            "INSERT INTO argument VALUES(1,0,-1,NULL,7,NULL,0,NULL,1); INSERT INTO node VALUES(1,NULL,NULL,5,NULL,NULL,NULL,NULL,1); UPDATE thread SET name='main'");
    REQUIRE(soon([&] { return s.size() == 2 && s.nodes() == 1; }));
    CHECK(soon([&] { return s.generation() > before; }));  // rows first, then the sign that there are new ones
    CHECK(s.event(EventId{1}).end == 900);
    CHECK(s.event(EventId{1}).flags == kRaised);
    CHECK(s.last(EventId{1}) == EventId{2});
    CHECK(s.depth(EventId{2}) == 1);
    CHECK(s.arguments(EventId{1}).size() == 1);
    CHECK(s.node(NodeId{1}).name == "");
    CHECK(s.nodes_of(EventId{1}).empty());
    CHECK(soon([&] { return s.thread(ThreadId{1})->name == "main"; }));
    a.write("UPDATE node SET event=1, name=1 WHERE id=1; INSERT INTO edge VALUES(1,0,NULL,NULL)");
    REQUIRE(soon([&] { return s.node(NodeId{1}).name == "AddBackward0"; }));
    CHECK(s.nodes_of(EventId{1}) == std::vector<NodeId>{NodeId{1}});
    CHECK(s.event(EventId{1}).node == NodeId{1});
    // Many at once.
    a.write("WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n WHERE i<100000) INSERT INTO event SELECT i,NULL,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL,i*10,i*10+5,0 FROM n");
    REQUIRE(soon([&] { return s.size() == 100000; }));
    REQUIRE((*opened)->set_bookmark(EventId{3}, "kept", true));
    CHECK(s.bookmarks().size() == 1);
  }
  const Status finished = (*drain)->finish("complete", 0);
  INFO((finished ? "" : finished.error()));
  CHECK(finished);
  REQUIRE(soon([&] { return !s.live(); }));
  CHECK(s.meta("state") == "complete");
  CHECK(s.arguments(EventId{1}).size() == 1);
  CHECK(s.trouble() == "");
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  opened = Session::open(path, true);
  REQUIRE(opened);
  CHECK((*opened)->size() == 100000);
  CHECK((*opened)->bookmarks().size() == 1);
}

TEST_CASE("live: GPU activity is followed; calls may come after the work that they started", "[sessions][live][gpu]") {
  const std::string path = test_folder() + "/gpu.peel";
  auto drain = Drain::create({.path = path});
  REQUIRE(drain);
  auto opened = Session::open(path, true);
  REQUIRE(opened);
  const Session& s = **opened;
  CHECK(!s.gpu());
  std::shared_ptr<const GpuActivity> first;
  {
    Author a(path);
    a.write("INSERT INTO op VALUES(1,'aten::mm','',NULL); INSERT INTO thread VALUES(1,5,1,NULL); INSERT INTO process VALUES(1,5,NULL,'p',0,NULL);"
            "INSERT INTO event VALUES(1,NULL,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL,100,900,0);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid) VALUES(500, 600, 0, 7, 3, 5 << 24)");
    REQUIRE(soon([&] { return s.gpu() != nullptr; }));
    first = s.gpu();
    CHECK(first->works() == 1);
    CHECK_FALSE(first->work({0, 0}).event);
    const uint64_t before = s.generation();
    a.write("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(200, 250, 0, (5 << 24) + 5, 3, NULL, 0, NULL, 1)");
    REQUIRE(soon([&] { return s.gpu() != first; }));
    CHECK(soon([&] { return s.generation() > before; }));
    CHECK(s.gpu()->work({0, 0}).event == EventId{1});
    CHECK(s.gpu()->calls()[0].thread == ThreadId{1});
    CHECK(first->calls().empty());
  }
  CHECK((*drain)->finish("complete", 0));
  REQUIRE(soon([&] { return !s.live(); }));
  CHECK(s.gpu()->works() == 1);
  CHECK(s.trouble() == "");
}

TEST_CASE("live: the recorder dies", "[sessions][live]") {
  const std::string path = test_folder() + "/dies.peel";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto drain = Drain::create({.path = path});
    const char answer = drain ? '1' : '0';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == '1');
  {
    Author a(path);
    a.write("INSERT INTO event VALUES(1,NULL,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL,100,NULL,0)");
  }
  const auto s = Session::open(path, true);
  REQUIRE(s);
  CHECK((*s)->live());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(soon([&] { return !(*s)->live(); }));
  CHECK((*s)->meta("state") == "crashed");
  CHECK((*s)->size() == 1);
  CHECK((*s)->event(EventId{1}).end == kOpen);
  const auto later = Session::open(path, true);
  REQUIRE(later);
  CHECK_FALSE((*later)->live());
  CHECK((*later)->meta("state") == "crashed");
  CHECK((*later)->size() == 1);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("live: reading from many threads while the file grows", "[sessions][live]") {
  const std::string path = test_folder() + "/busy.peel";
  auto drain = Drain::create({.path = path});
  REQUIRE(drain);
  auto s = Session::open(path);
  REQUIRE(s);
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  std::atomic<uint64_t> wrong{0};
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      uint32_t i = static_cast<uint32_t>(t);
      while (!stop) {
        const uint32_t size = (*s)->size();
        if (size == 0) continue;
        const EventId e{1 + (i += 7919) % size};
        const Event v = (*s)->event(e);
        wrong += v.id != e || v.last < e || v.parent >= e || v.depth != (v.parent ? 1 : 0);
        (void)(*s)->next_sibling(e), (void)(*s)->children(e), (void)(*s)->nodes_inside(e), (void)(*s)->arguments(e), (void)(*s)->meta("state");
      }
    });
  }
  {
    Author a(path);
    a.write("INSERT INTO string VALUES(1,'N'); INSERT INTO op VALUES(1,'aten::relu','',NULL)");
    for (int round = 0; round < 20; ++round) {
      const std::string from = std::to_string(round * 500 + 1), to = std::to_string(round * 500 + 500);
      a.write("WITH RECURSIVE n(i) AS (SELECT " + from + " UNION ALL SELECT i+1 FROM n WHERE i<" + to +
              ") INSERT INTO event SELECT i,CASE WHEN i%2 THEN NULL ELSE i-1 END,1,1,0,NULL,NULL,NULL,NULL,NULL,NULL,i*10,i*10+5,0 FROM n;"
              "INSERT INTO node(event,name) SELECT id,1 FROM event WHERE id>=" + from + " AND id%5=0;"
              "INSERT INTO argument SELECT id,0,-1,NULL,7,NULL,0,NULL,1 FROM event WHERE id>=" + from);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  CHECK(soon([&] { return (*s)->size() == 10000 && (*s)->nodes() == 2000; }));
  stop = true;
  for (std::thread& t : readers) t.join();
  CHECK(wrong == 0);
  CHECK((*drain)->finish("complete", 0));
  CHECK(soon([&] { return !(*s)->live(); }));
}
