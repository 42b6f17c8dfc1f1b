// How fast a session opens and answers: peel_open_bench [HOPS] [FILE]. Makes a session of that many hops by
// plain SQL (kept when FILE is given, and used again when it is there), opens it, and prints times and sizes.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "sessions/filter.h"
#include "sessions/iterations.h"
#include "sessions/session_impl.h"
#include "sessions/show.h"
#include "sessions/why.h"
#include "tests/perf/bench.h"

using namespace peel;
using namespace peel::bench;

namespace {

// Rounds of: a call at AutogradCPU, its redispatches to ADInplaceOrView and CPU, two calls inside that; a node
// for every second call; 400 operators, 2,000 stacks, four threads of which one does most of the work.
void make(const std::string& path, uint32_t hops) {
  sqlite3* db = new_session(path);
  run(db, "INSERT INTO meta VALUES('state','complete'),('engine','pytorch');"
          "INSERT INTO dispatch_key VALUES(0,'Undefined',NULL,NULL,0),(11,'BackendSelect',26,NULL,86),(19,'ADInplaceOrView',34,NULL,94),(24,'AutocastCPU',39,NULL,114),"
          "(49,'CPU',16,0,1),(134,'AutogradCPU',36,0,96);"
          "INSERT INTO keyset VALUES(1,85899411457,'DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU)'),(2,17179934721,'DispatchKeySet(CPU, ADInplaceOrView)'),(3,65537,'DispatchKeySet(CPU)'),"
          "(4,635655225345,'DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)');"
          "INSERT INTO tls VALUES(1,17246978048,562657895645184,1,0,NULL),(2,17246978048,562657895645184,0,0,NULL);"
          "INSERT INTO thread VALUES(1,1,1,'main'),(2,2,1,'worker'),(3,3,1,'worker'),(4,4,1,'worker');"
          "INSERT INTO string VALUES(1,'/home/me/train.py'),(2,'forward'),(3,'AddBackward0'),(4,'MulBackward0'),(5,'float32'),(6,'[8,16]');"
          "INSERT INTO tensor_meta VALUES(1,5,6,NULL,NULL,NULL,4,NULL)");
  Insert op(db, "INSERT INTO op VALUES(?,?,'',NULL)"), kernel(db, "INSERT INTO kernel VALUES(?,?,?,'kernel','both','registered at x.cpp:1',0)"), mask(db, "INSERT INTO op_mask VALUES(?,NULL,?,0)"),
      stack(db, "INSERT INTO stack VALUES(?,?,1,?,2)");
  for (int64_t i = 1; i <= 400; ++i) {
    const std::string name = "aten::op" + std::to_string(i);
    op(i, name.c_str());
    kernel(i, i, int64_t{134});
    mask(i, static_cast<int64_t>(~(uint64_t{1} << 26)));
  }
  for (int64_t i = 1; i <= 2000; ++i) stack(i, i > 20 ? i - 20 : int64_t{0}, i % 300);
  Insert event(db, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,0)"), node(db, "INSERT INTO node VALUES(?,?,?,?,1,1,NULL,NULL,?)"), edge(db, "INSERT INTO edge VALUES(?,?,?,0)"),
      argument(db, "INSERT INTO argument VALUES(?,?,-1,NULL,?,1,0,NULL,1)"), write(db, "INSERT INTO \"write\" VALUES(?,?,?,0,1)");
  int64_t nodes = 0;
  for (int64_t id = 1; id <= hops;) {
    const int64_t round = id / 5, thread = round % 50 == 7 ? 2 + round % 3 : 1, of = 1 + (round * 7) % 400, line = 1 + (round / 3) % 2000, first = id;
    struct {
      int64_t parent, kind, key, set, args;
    } const shape[] = {{0, 0, 134, 1, 4}, {first, 1, 19, 2, 0}, {first + 1, 1, 49, 3, 0}, {first + 2, 0, 49, 3, 4}, {first + 2, 0, 49, 3, 4}};
    for (const auto& h : shape) {
      if (id > hops) break;
      const int64_t operation = h.parent == first + 2 ? 1 + (of + 13) % 400 : of;
      if (h.parent && h.args) event(id, h.parent, thread, operation, h.kind, h.key, h.set, h.args, 1 + round % 2, operation, line, id * 700, id * 700 + 600);
      else if (h.parent) event(id, h.parent, thread, operation, h.kind, h.key, h.set, nullptr, 1 + round % 2, operation, line, id * 700, id * 700 + 900);
      else event(id, nullptr, thread, operation, h.kind, h.key, h.set, h.args, 1 + round % 2, operation, line, id * 700, id * 700 + 3000);
      if (h.args) argument(id, int64_t{0}, 1 + round % 5000), argument(id, int64_t{1}, 1 + (round + 1) % 5000);
      ++id;
    }
    if (round % 2 == 0) {
      ++nodes;
      node(nodes, first, 3 + nodes % 2, nodes, first);
      if (nodes > 1) edge(nodes, int64_t{0}, nodes - 1);
      if (nodes > 40) edge(nodes, int64_t{1}, nodes - 40);
    }
    if (round % 10 == 0) write(first + 1, 1 + round % 5000, 1 + round % 5000);
  }
  run(db, "COMMIT");
  sqlite3_close(db);
}

/// Processor time of one call of `f`, over enough calls to be measured.
template <class F>
void each(const char* name, uint32_t calls, F&& f) {
  const double begin = cpu_ms();
  for (uint32_t i = 0; i < calls; ++i) f(i);
  std::printf("  %-34s %10.0f ns\n", name, (cpu_ms() - begin) * 1e6 / calls);
}

template <class F>
void once(const char* name, F&& f) {
  const double begin = cpu_ms();
  const size_t n = f();
  std::printf("  %-34s %10.1f ms   (%zu)\n", name, cpu_ms() - begin, n);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto hops = static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
  const std::string path = argc > 2 ? argv[2] : "/tmp/peel-open-bench-" + std::to_string(::getpid()) + ".peel";
  struct stat st{};
  if (argc <= 2 || ::stat(path.c_str(), &st) != 0) {
    const double begin = now_ms();
    make(path, hops);
    std::printf("made %s in %.1f s\n", path.c_str(), (now_ms() - begin) / 1e3);
  }
  ::stat(path.c_str(), &st);
  const double before_mib = resident_mib(), begin = now_ms(), begin_cpu = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
  auto opened = Session::open(path);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().c_str());
    return 2;
  }
  const double open_ms = now_ms() - begin;
  const Session& s = **opened;
  double first_ms = 0;
  while (!s.progress().ready) {
    if (first_ms == 0 && s.size() > 0) first_ms = now_ms() - begin;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  const double ready_ms = now_ms() - begin, ready_cpu = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
  const double held = static_cast<double>(implementation(s)->bytes());
  std::printf("%u hops, %u nodes, file %.0f MiB (%.0f bytes a hop)%s%s\n", s.size(), s.nodes(), static_cast<double>(st.st_size) / 1048576, static_cast<double>(st.st_size) / s.size(),
              s.trouble().empty() ? "" : ", trouble: ", s.trouble().c_str());
  std::printf("open() %.1f ms, first hops %.1f ms, everything ready %.0f ms (%.0f ms of processor time, %.0f ns a hop)\n", open_ms, first_ms, ready_ms, ready_cpu,
              ready_cpu * 1e6 / s.size());
  std::printf("memory: %.1f bytes a hop in columns and graph, %.1f by resident size\n", held / s.size(), (resident_mib() - before_mib) * 1048576 / s.size());

  const uint32_t n = s.size();
  uint64_t sum = 0;
  const auto pick = [n](uint32_t i) { return EventId{1 + static_cast<uint32_t>(uint64_t{i} * 2654435761u % n)}; };
  each("event()", 2'000'000, [&](uint32_t i) { sum += s.event(pick(i)).last.value; });
  each("next_sibling()", 2'000'000, [&](uint32_t i) { sum += s.next_sibling(pick(i)).value; });
  each("next_in_thread(), worker", 200'000, [&](uint32_t i) { sum += s.next_in_thread(pick(i)).value; });
  each("nodes_inside()", 500'000, [&](uint32_t i) { sum += s.nodes_inside(pick(i)); });
  each("user_frame()", 500'000, [&](uint32_t i) { sum += s.user_frame(s.event(pick(i)).stack).value; });
  each("arguments(), not seen before", 5'000, [&](uint32_t i) { sum += s.arguments(pick(i)).size(); });
  each("arguments(), seen before", 50'000, [&](uint32_t i) { sum += s.arguments(pick(i % 100)).size(); });
  each("why()", 2'000, [&](uint32_t i) { sum += why(s, pick(i)).keys.size(); });
  const auto filtered = [&](const char* text) { return (*Filter::parse(text)).matches(s).size(); };
  once("filter op:op1*", [&] { return filtered("op1*"); });
  once("filter key:Autograd* -op:op7", [&] { return filtered("key:Autograd* -op:op7"); });
  once("filter line:10-20 kind:call node:Add*", [&] { return filtered("line:10-20 kind:call node:Add*"); });
  once("filter, everything matches", [&] { return filtered("-op:absent"); });
  once("uses() of a tensor", [&] { return s.uses(TensorId{17}, 1000).size(); });
  once("roots()", [&] { return s.roots(main_thread(s)).size(); });
  once("iterations()", [&] { return iterations(s, main_thread(s)).size(); });
  once("default_selection()", [&] { return size_t{default_selection(s).value}; });
  once("check_key_sets()", [&] { return size_t{check_key_sets(s).explained}; });
  if (argc <= 2) ::unlink(path.c_str());
  return sum == 0;
}
