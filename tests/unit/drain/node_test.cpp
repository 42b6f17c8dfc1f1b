// Autograd nodes, their runs, spans, and what is told of operators.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;
using wire::HopKind;

namespace {

constexpr uint64_t kNone = UINT64_MAX;

struct Graph : Recording {
  Graph() : p(*drain), t(p.thread()), op(p.op("aten::mul", "Tensor", {"self", "other"})), mul(p.string("MulBackward0")), accumulate(p.string("AccumulateGrad")) {}
  ~Graph() { p.exit(); }
  void end() {
    t.close();
    p.exit();
    finish();
  }
  void hop() { t.begin({.op = op}); }
  FakeProcess p;
  FakeThread t;
  uint32_t op, mul, accumulate;
};

}  // namespace

TEST_CASE("a node belongs to the innermost hop in which it was reported; its output is the result, whichever came first") {
  Graph r;
  r.hop();  // 1
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  r.hop();  // 2
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 7, .topological_nr = 1, .output = 0x20, .edges = {{0x600, kNone, 0, 0}, {0, 0, 0, 0}}});
  r.t.result(0, {.impl = 0x20, .storage = 0x21, .sizes = {2}});
  r.t.end();
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 7});  // seen again further out
  r.t.end();
  r.t.node({.name = r.accumulate, .node = 0x600, .sequence_nr = kNone, .variable = 0x10, .found_late = true});
  r.end();
  CHECK(r.rows("SELECT node.id, event, value, sequence_nr, topological_nr, variable, output, found_event FROM node JOIN string ON string.id = name") ==
        Rows{"1|2|MulBackward0|7|1|-|2|2", "2|-|AccumulateGrad|-1|0|1|-|2"});
  CHECK(r.rows("SELECT * FROM edge") == Rows{"1|0|2|0", "1|1|-|-"});
  CHECK(r.rows("SELECT id, event, op, name, sequence_nr FROM autograd_node") == Rows{"1|2|aten::mul.Tensor|MulBackward0|7", "2|-|-|AccumulateGrad|-1"});
}

TEST_CASE("a node that an edge names first is filled in later, also after a commit") {
  Graph r;
  r.hop();
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 7, .edges = {{0x400, 6, 1, 0}}});
  r.t.end();
  for (int i = 0; i < 3000 && r.one("SELECT count(*) FROM node") != "2"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(r.rows("SELECT id, event, name IS NULL FROM node") == Rows{"1|1|0", "2|-|1"});
  r.hop();
  r.t.node({.name = r.mul, .node = 0x400, .sequence_nr = 6, .output = 0x90});
  r.t.result(0, {.impl = 0x90, .storage = 0x91, .sizes = {}});
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, event, sequence_nr, name IS NULL, output, found_event FROM node") == Rows{"1|1|7|0|-|1", "2|2|6|0|1|1"});
}

TEST_CASE("an address that is used again is another node; accumulators are told apart by their variable") {
  Graph r;
  r.hop();
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  r.t.tensor(1, {.impl = 0x30, .storage = 0x31, .sizes = {2}});
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 7});
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 8});
  r.t.node({.name = r.accumulate, .node = 0x600, .sequence_nr = kNone, .variable = 0x10});
  r.t.node({.name = r.accumulate, .node = 0x600, .sequence_nr = kNone, .variable = 0x10});
  r.t.node({.name = r.accumulate, .node = 0x600, .sequence_nr = kNone, .variable = 0x30});
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, sequence_nr, variable FROM node") == Rows{"1|7|-", "2|8|-", "3|-1|1", "4|-1|2"});
}

TEST_CASE("a leaf that is known by its accumulator only gets its storage when it is met") {
  Graph r;
  r.t.node({.name = r.accumulate, .node = 0x600, .sequence_nr = kNone, .variable = 0x10, .found_late = true});
  r.hop();  // what has no time of its own goes with the next record that has one
  r.t.end();
  for (int i = 0; i < 3000 && r.one("SELECT count(*) FROM tensor") != "1"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(r.one("SELECT id, storage FROM tensor") == "1|-");
  r.hop();
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event, storage FROM tensor") == Rows{"1|-|1"});
  CHECK(r.one("SELECT tensor FROM argument") == "1");
}

TEST_CASE("runs: the node, the task, and the hop before the backward that asked for it") {
  Graph r;
  FakeThread worker = r.p.thread("autograd");
  r.hop();  // 1
  r.t.node({.name = r.mul, .node = 0x500, .sequence_nr = 7});
  r.t.end();
  REQUIRE(r.wait_for(1));
  r.t.span_begin(r.p.string("backward"), wire::SpanKind::kBackward);
  const auto run = [&](FakeThread& t, uint64_t task) {
    t.begin({.kind = HopKind::kBackwardNode, .key = 0, .keyset = 0});
    t.node_run(0x500, 7, task);
    t.begin({.op = r.op});
    t.end();
    t.end();
  };
  run(r.t, 3);   // 2, 3: binds task 3 to the span
  REQUIRE(r.wait_for(3));
  run(worker, 3);  // 4, 5: the same task on another thread
  REQUIRE(r.wait_for(5));
  r.t.span_end();
  r.t.begin({.op = r.op});  // 6
  r.t.end();
  REQUIRE(r.wait_for(6));
  run(r.t, 4);     // 7, 8: no backward is open
  worker.close();
  r.end();
  CHECK(r.rows("SELECT id, node, event, graph_task, cause FROM node_run") == Rows{"1|1|2|3|1", "2|1|4|3|1", "3|1|7|4|-"});
  CHECK(r.rows("SELECT id, kind, key, op FROM hop WHERE kind='backward_node'") == Rows{"2|backward_node|-|-", "4|backward_node|-|-", "7|backward_node|-|-"});
}

TEST_CASE("a backward span that knows its task") {
  Graph r;
  r.hop();
  r.t.end();
  r.t.span_begin(r.p.string("backward"), wire::SpanKind::kBackward, 0, 42);
  r.t.begin({.kind = HopKind::kBackwardNode, .key = 0, .keyset = 0});
  r.t.node_run(0x500, 7, 42);
  r.t.end();
  r.t.span_end();
  r.end();
  CHECK(r.rows("SELECT node, cause FROM node_run") == Rows{"1|1"});
}

TEST_CASE("spans: nesting, first and last hop, open ones") {
  Graph r;
  const auto hop = [&] {
    r.hop();
    r.t.end();
  };
  hop();  // 1
  r.t.span_begin(r.p.string("net"), wire::SpanKind::kModule, r.p.string("Net"), 0xabc);
  r.t.span_begin(r.p.string("net.0"), wire::SpanKind::kModule, r.p.string("Linear"));
  hop();  // 2
  hop();  // 3
  r.t.span_end();
  r.t.span_begin(r.p.string("net.1"), wire::SpanKind::kModule);
  r.t.span_end();
  for (int i = 0; i < 3000 && r.one("SELECT count(*) FROM span") != "3"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(r.one("SELECT begin_event, end_event, end_ns FROM span WHERE name='net'") == "2|-|-");
  hop();  // 4
  r.t.span_end();
  r.t.span_begin(r.p.string("left open"), wire::SpanKind::kMark);
  hop();  // 5
  r.end();
  CHECK(r.rows("SELECT id, kind, name, detail, thread, begin_event, end_event, parent, end_ns >= begin_ns, object FROM span") ==
        Rows{"1|module|net|Net|1|2|4|-|1|2748", "2|module|net.0|Linear|1|2|3|1|1|-", "3|module|net.1|-|1|-|-|1|1|-", "4|mark|left open|-|1|5|-|-|-|-"});
}

TEST_CASE("modes end by family, whatever was begun in them, and are nobody's parent") {
  Graph r;
  const auto family = [](wire::ModeFamily f) { return static_cast<uint32_t>(f); };
  r.t.span_end(family(wire::ModeFamily::kGuard));  // one that the recording did not see begin
  r.t.span_begin(r.p.string("grad mode off"), wire::SpanKind::kMode, 0, family(wire::ModeFamily::kGrad));
  r.t.span_begin(r.p.string("net"), wire::SpanKind::kModule);
  r.hop();  // 1
  r.t.end();
  r.t.span_begin(r.p.string("inference_mode"), wire::SpanKind::kMode, 0, family(wire::ModeFamily::kInference));
  r.hop();  // 2
  r.t.end();
  r.t.span_end(family(wire::ModeFamily::kGrad));
  r.t.span_end();  // net
  r.hop();  // 3
  r.t.end();
  r.t.span_end(family(wire::ModeFamily::kInference));
  r.hop();  // 4
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT kind, name, begin_event, end_event, parent, object FROM span") ==
        Rows{"mode|grad mode off|1|2|-|1", "module|net|1|2|-|-", "mode|inference_mode|2|3|2|2"});
  CHECK(r.rows("SELECT * FROM loss").empty());
}

TEST_CASE("exceptions") {
  Graph r;
  r.hop();
  r.t.error(r.p.string("RuntimeError"), r.p.string("no kernel"));
  r.t.end(wire::kRaised);
  r.end();
  CHECK(r.rows("SELECT * FROM error") == Rows{"1|RuntimeError|no kernel"});
  CHECK(r.one("SELECT flags FROM event") == "1");
}

TEST_CASE("tables hold since the first hop that began after they changed") {
  Graph r;
  const uint32_t kernel = r.p.kernel(r.op, key::CPU);
  r.p.table(r.op, {{1, kernel, 0, 0}}, {0xffff});
  r.hop();
  r.t.end();
  REQUIRE(r.wait_for(1));
  const uint64_t changed = wire::ticks();
  r.hop();
  r.t.end();
  REQUIRE(r.wait_for(2));
  r.p.table(r.op, {{1, kernel, 1, 0}, {96, kernel, 0, 0}}, {0xff, 0xfe}, changed);
  r.end();
  CHECK(r.rows("SELECT op, slot, kernel, since_event, stale FROM table_slot") == Rows{"1|1|1|1|0", "1|1|1|2|1", "1|96|1|2|0"});
  CHECK(r.rows("SELECT * FROM op_mask") == Rows{"1|-|65535|1", "1|0|255|2", "1|1|254|2"});
}

TEST_CASE("registrations come with the table, the one in force first; those of operator 0 are the backend fallbacks") {
  Graph r;
  const uint32_t first = r.p.kernel(r.op, key::CPU), second = r.p.kernel(r.op, key::Autograd);
  r.p.table(0, {}, {}, 0, {{key::AutogradCPU, first}});
  r.p.table(r.op, {{1, first, 0, 0}}, {0xffff}, 0, {{key::CPU, second}, {key::CPU, first}, {key::Autograd, second}});
  r.hop();
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT op, key, position, kernel, since_event FROM registration") ==
        Rows{"-|" + std::to_string(key::AutogradCPU) + "|0|1|1", "1|" + std::to_string(key::CPU) + "|0|2|1", "1|" + std::to_string(key::CPU) + "|1|1|1", "1|" + std::to_string(key::Autograd) + "|0|2|1"});
  CHECK(r.rows("SELECT count(*) FROM table_slot") == Rows{"1"});
}

TEST_CASE("an operator's entries in PyTorch's lists are stored when it is first met") {
  const std::string folder = std::filesystem::temp_directory_path() / ("peel-lists-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder + "/ATen/native");
  std::filesystem::create_directories(folder + "/autograd");
  std::ofstream(folder + "/ATen/native/native_functions.yaml") << "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  variants: function\n\n# the next one\n- func: exp(Tensor self) -> Tensor\n";
  std::ofstream(folder + "/autograd/derivatives.yaml") << "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: grad * other\n";
  {
    Recording r;
    FakeProcess p(*r);
    p.fact(wire::kListsFact, folder);
    FakeThread t = p.thread();
    for (const char* name : {"aten::mul", "aten::mul_", "mine::mul"}) {
      t.begin({.op = p.op(name, "Tensor")});
      t.end();
    }
    t.close();
    p.exit();
    r.finish();
    CHECK(r.rows("SELECT o.name, native_function, derivative FROM op_source JOIN op o ON o.id = op") ==
          Rows{"aten::mul|- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  variants: function|- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: grad * other",
               "aten::mul_|-|- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: grad * other"});
    CHECK(r.rows("SELECT * FROM meta WHERE key = 'operator_lists'").empty());  // a path of the machine stays out of the file
  }
  std::filesystem::remove_all(folder);
}
