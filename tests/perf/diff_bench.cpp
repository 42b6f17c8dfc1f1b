// How fast two large sessions are compared: peel_diff_bench [HOPS] [PERCENT]. Makes a session of that many hops and
// another in which so many percent of the top-level calls are gone, new, of other values or without a layer; opens
// both and prints how long loading and comparing took, what was found, and memory. A third pair shares nothing.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sessions/diff.h"
#include "tests/perf/bench.h"

using namespace peel;
using namespace peel::bench;

namespace {

struct Maker {
  sqlite3* db = nullptr;
  sqlite3_stmt *event = nullptr, *value = nullptr, *memory = nullptr;
  int64_t id = 0, rows = 0;

  void hop(int64_t parent, int64_t op, int64_t kind, int64_t key, int64_t set, int64_t stack, int64_t meta) {
    ++id;
    const int64_t columns[] = {id, parent, op, kind, key, set, kind == 0 ? 4 : 0, op, stack, id * 700, id * 700 + 600};
    for (int i = 0; i < 11; ++i) columns[i] ? sqlite3_bind_int64(event, i + 1, columns[i]) : sqlite3_bind_null(event, i + 1);
    if (sqlite3_step(event) != SQLITE_DONE) std::exit(2);
    sqlite3_reset(event);
    if (kind != 0) return;
    for (int64_t position = 0; position < 2; ++position) {
      sqlite3_bind_int64(value, 1, id), sqlite3_bind_int64(value, 2, position), sqlite3_bind_int64(value, 3, meta);
      if (sqlite3_step(value) != SQLITE_DONE) std::exit(2);
      sqlite3_reset(value);
    }
  }

  /// A call of five hops, as open_bench makes them; `skip`: without its autograd layer.
  void call(int64_t op, int64_t stack, int64_t meta, bool skip) {
    const int64_t inner = 1 + (op + 13) % 400;
    int64_t head = id + 1;
    if (!skip) hop(0, op, 0, 134, 1, stack, meta);
    hop(skip ? 0 : head, op, skip ? 0 : 1, 19, 2, stack, meta);
    hop(id, op, 1, 49, 3, stack, meta);
    const int64_t cpu = id;
    hop(cpu, inner, 0, 49, 3, stack, meta);
    hop(cpu, inner, 0, 49, 3, stack, meta);
    const int64_t block = 4096 + id * 64;
    block_event(cpu, 0, block, 512 * meta);
    block_event(0, 2, block, 512 * meta);
  }

  void block_event(int64_t hop_id, int64_t action, int64_t address, int64_t bytes) {
    const int64_t columns[] = {++rows, hop_id, id * 700 + 650, action, address, bytes};
    for (int i = 0; i < 6; ++i) i == 1 && !hop_id ? sqlite3_bind_null(memory, i + 1) : sqlite3_bind_int64(memory, i + 1, columns[i]);
    if (sqlite3_step(memory) != SQLITE_DONE) std::exit(2);
    sqlite3_reset(memory);
  }
};

/// `changed` calls in 10,000 differ from the plain session; `foreign`: all operators are others.
void make(const std::string& path, uint32_t hops, uint32_t changed, bool foreign) {
  Maker m;
  m.db = new_session(path);
  run(m.db, "INSERT INTO meta VALUES('state','complete'),('engine','pytorch'),('engine_version','2.13.0');"
            "INSERT INTO dispatch_key VALUES(0,'Undefined',NULL,NULL,0),(11,'BackendSelect',26,NULL,86),(19,'ADInplaceOrView',34,NULL,94),(24,'AutocastCPU',39,NULL,114),"
            "(49,'CPU',16,0,1),(134,'AutogradCPU',36,0,96);"
            "INSERT INTO keyset VALUES(1,85899411457,'a'),(2,17179934721,'b'),(3,65537,'c'),(4,635655225345,'d');"
            "INSERT INTO tls VALUES(1,17246978048,562657895645184,1,0,NULL);"
            "INSERT INTO thread VALUES(1,1,1,'main');"
            "INSERT INTO string VALUES(1,'/home/me/train.py'),(2,'forward'),(3,'float32'),(4,'[8,16]'),(5,'cpu'),(6,'float16');"
            "INSERT INTO tensor_meta VALUES(1,3,4,NULL,5,NULL,4,NULL),(2,6,4,NULL,5,NULL,4,NULL)");
  for (int i = 1; i <= 400; ++i) {
    run(m.db, "INSERT INTO op VALUES(" + std::to_string(i) + ",'" + (foreign ? "other" : "aten") + "::op" + std::to_string(i) + "','',NULL)");
    run(m.db, "INSERT INTO kernel VALUES(" + std::to_string(i) + "," + std::to_string(i) + ",134,'kernel','both','registered at x.cpp:1',0)");
  }
  for (int i = 1; i <= 300; ++i) run(m.db, "INSERT INTO stack VALUES(" + std::to_string(i) + ",NULL,1," + std::to_string(i) + ",2)");
  sqlite3_prepare_v2(m.db, "INSERT INTO event VALUES(?1,?2,1,?3,?4,?5,?6,?7,1,?8,?9,?10,?11,0)", -1, &m.event, nullptr);
  sqlite3_prepare_v2(m.db, "INSERT INTO argument VALUES(?1,?2,-1,NULL,1,?3,0,NULL,1)", -1, &m.value, nullptr);
  sqlite3_prepare_v2(m.db, "INSERT INTO memory_event(id, event, thread, time_ns, action, device, address, size, storage) VALUES(?1,?2,1,?3,?4,5,?5,?6,1)", -1, &m.memory, nullptr);
  uint64_t dice = 12345;
  for (int64_t round = 0; m.id + 5 <= hops; ++round) {
    dice = dice * 6364136223846793005 + 1442695040888963407;
    const int64_t line = 1 + round % 250, op = 1 + line * 7 % 400;  // a loop of 250 lines
    const bool other = (dice >> 33) % 10000 < changed;
    const uint64_t how = (dice >> 50) % 4;
    if (other && how == 0) continue;
    m.call(op, line, other && how == 2 ? 2 : 1, other && how == 3);
    if (other && how == 1) m.call(1 + (op + 50) % 400, 260 + round % 40, 1, false);
  }
  run(m.db, "COMMIT");
  sqlite3_finalize(m.event), sqlite3_finalize(m.value), sqlite3_finalize(m.memory);
  sqlite3_close(m.db);
}

void compare(const char* what, const std::string& left, const std::string& right) {
  const double begin = now_ms();
  auto l = Session::open(left, true), r = Session::open(right, true);
  if (!l || !r) std::exit(2);
  const double opened = now_ms(), before = resident_mib();
  const Diff d = diff({l->get(), {}}, {r->get(), {}});
  const double done = now_ms();
  std::printf("%-22s %u against %u hops: open %.0f ms, diff %.0f ms; %llu same, %llu changed, %llu only left, %llu only right; +%.0f MiB\n", what, (*l)->size(), (*r)->size(), opened - begin,
              done - opened, static_cast<unsigned long long>(d.same), static_cast<unsigned long long>(d.changed), static_cast<unsigned long long>(d.left),
              static_cast<unsigned long long>(d.right), resident_mib() - before);
}

}  // namespace

int main(int argc, char** argv) {
  const auto hops = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
  const double percent = argc > 2 ? std::atof(argv[2]) : 1;
  const std::string base = "/tmp/peel-diff-" + std::to_string(::getpid());
  const std::string a = base + "-a.peel", b = base + "-b.peel", c = base + "-c.peel";
  make(a, hops, 0, false);
  make(b, hops, static_cast<uint32_t>(percent * 100), false);
  make(c, hops, 0, true);
  compare("with itself", a, a);
  compare("with changes", a, b);
  compare("with nothing shared", a, c);
  for (const std::string& path : {a, b, c}) ::unlink(path.c_str());
  return 0;
}
