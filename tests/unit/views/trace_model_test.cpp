// What the Trace panel shows: folding, strips, reveal, filter, growth, and its cost on a large session.
#include "views/trace_model.h"

#include <chrono>

#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"

using namespace peel;
using namespace peel::views;
namespace bit = test::bit;
namespace key = test::key;

namespace {

// A Linear and a relu_ under one module, as in a step of training, then a line of its own.
struct Net {
  test::FakeSession s;
  StackId main = s.frame("/p/train.py", 17), after = s.frame("/p/train.py", 18);
  EventId linear, addmm, relu, loss;

  EventId call(const char* op, KeyId k, StackId stack, EventId parent = {}) {
    const EventId e = s.hop(parent, s.op(op), Kind::kCall, k, bit::kTensor, bit::kTensor);
    s.at(e).stack = stack;
    return e;
  }
  Net() {
    s.meta_["program"] = "/p/train.py";
    s.sources_["/p/train.py"] = std::string(16, '\n') + "    y = net(x)\n    loss = f(y)  # how far off\n";
    linear = call("aten::linear", key::kAutogradCpu, main);
    s.at(linear).kernel = s.kernel(s.at(linear).op, key::kAutogradCpu, "math kernel");
    addmm = call("aten::addmm", key::kAutogradCpu, main, linear);
    s.hop(addmm, s.op("aten::addmm"), Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.add_node(addmm, "AddmmBackward0", 1);
    relu = call("aten::relu_", key::kAutogradCpu, main);
    const EventId iv = s.hop(relu, s.op("aten::relu_"), Kind::kRedispatch, key::kADInplaceOrView, bit::kTensor);
    s.hop(iv, s.op("aten::relu_"), Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.add_node(relu, "ReluBackward0", 2);
    s.results_[relu] = {s.tensor_value(0, "", 5, "float32", "[8, 16]")};
    loss = call("aten::mse_loss", key::kAutogradCpu, after);
    s.spans_.push_back({SpanId(1), {}, "module", "net", "Sequential", ThreadId(1), linear, s.last(relu), 0, 0, {}, 0});
    s.spans_.push_back({SpanId(2), SpanId(1), "module", "net.0", "Linear", ThreadId(1), linear, s.last(linear), 0, 0, {}, 0});
    s.spans_.push_back({SpanId(3), SpanId(1), "module", "net.1", "ReLU", ThreadId(1), relu, s.last(relu), 0, 0, {}, 0});
  }
};

std::vector<std::string> names(TraceModel& m) {
  std::vector<std::string> out;
  for (const TraceRow& r : m.rows(0, 1000)) out.push_back(std::string(size_t(r.depth) * 2, ' ') + r.name);
  return out;
}
void settle(TraceModel& m) {
  for (int i = 0; i < 1000 && m.update(1'000'000); i++) m.rows(0, 50);
}

}  // namespace

TEST_CASE("calls fold into modules and lines", "[trace]") {
  Net n;
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  // The line holds one module only, so the module stands for it; a line with one call is that call.
  CHECK(names(m) == std::vector<std::string>{"net Sequential", "mse_loss"});
  const auto rows = m.rows(0, 10);
  CHECK(rows[0].detail == "6 hops");
  CHECK(rows[0].inside == 2);
  CHECK(rows[0].note == ":17");
  CHECK(rows[1].note == ":18");
  CHECK(m.set_expanded(0, true));
  CHECK(names(m) == std::vector<std::string>{"net Sequential", "  net.0 Linear", "  net.1 ReLU", "mse_loss"});
  CHECK(m.set_expanded(1, true));
  CHECK(names(m) == std::vector<std::string>{"net Sequential", "  net.0 Linear", "    linear", "  net.1 ReLU", "mse_loss"});
  CHECK(m.parent_row(2) == std::optional<uint64_t>(1));
  CHECK(m.parent_row(3) == std::optional<uint64_t>(0));
  CHECK_FALSE(m.parent_row(0));
  // Closing and opening again shows what was open inside.
  CHECK(m.set_expanded(0, false));
  CHECK(m.rows() == 2);
  CHECK(m.set_expanded(0, true));
  CHECK(m.rows() == 5);
}

TEST_CASE("stretches are the outermost level", "[trace]") {
  Net n;
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  m.set_stretches({{"set-up", n.linear, n.linear}, {"step 0", n.relu, n.loss}});
  CHECK(names(m) == std::vector<std::string>{"set-up", "step 0"});
  CHECK(m.set_expanded(1, true));
  CHECK(names(m) == std::vector<std::string>{"set-up", "step 0", "  net Sequential", "  mse_loss"});
}

TEST_CASE("functions of the user's nest; a level with one thing is left out", "[trace]") {
  test::FakeSession s;
  s.meta_["program"] = "/p/a.py";
  const StackId top = s.frame("/p/a.py", 40), one = s.frame("/p/a.py", 10, "f", top), two = s.frame("/p/a.py", 11, "f", top), late = s.frame("/p/a.py", 41);
  for (StackId f : {one, one, two, late}) {
    const EventId e = s.hop({}, s.op("aten::add"), Kind::kCall, key::kCpu, bit::kTensor, bit::kTensor);
    s.at(e).stack = f;
  }
  TraceModel m;
  m.reset(&s);
  settle(m);
  CHECK(names(m) == std::vector<std::string>{"a.py:40", "add"});
  m.set_expanded(0, true);
  CHECK(names(m) == std::vector<std::string>{"a.py:40", "  a.py:10", "  add", "add"});
}

TEST_CASE("a row tells layers, shape, node", "[trace]") {
  Net n;
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  const auto at = m.reveal(n.relu);
  REQUIRE(at);
  const TraceRow r = m.rows(*at, 1)[0];
  CHECK(r.name == "relu_");
  CHECK(r.detail == "[8,16]");
  CHECK(r.node == "ReluBackward0");
  CHECK(r.inside == 0);
  CHECK(r.path == "AutogradCPU, ADInplaceOrView, CPU");
  REQUIRE(m.columns() == std::vector<TraceModel::Column>{TraceModel::kAutograd, TraceModel::kView, TraceModel::kBackend});
  for (const StripCell& c : r.strip) CHECK(c.mark == theme::Mark::kRan);
  const TraceRow linear = m.rows(*m.reveal(n.linear), 1)[0];
  CHECK(linear.composite);
  CHECK(linear.strip[0].mark == theme::Mark::kComposite);
  CHECK(linear.strip[1].mark == theme::Mark::kAbsent);
  CHECK(linear.inside == 1);
  CHECK(linear.node.empty());
  const TraceRow addmm = m.rows(*m.reveal(n.addmm), 1)[0];
  CHECK(addmm.strip[0].key == key::kAutogradCpu);
  CHECK(addmm.strip[1].layers == 0);
  CHECK(addmm.strip[2].key == key::kCpu);
}

TEST_CASE("other families get a column when they occur; many layers of one are a stack", "[trace]") {
  Net n;
  const EventId v = n.call("aten::sin", key::kBatched, n.after);
  const EventId inner = n.s.hop(v, n.s.op("aten::sin"), Kind::kCall, key::kBatched, bit::kTensor, bit::kTensor);
  n.s.hop(inner, n.s.op("aten::sin"), Kind::kRedispatch, key::kCpu, bit::kTensor);
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  CHECK(m.columns().size() == 4);
  CHECK(m.columns()[0] == TraceModel::kFunctorch);
  const TraceRow r = m.rows(*m.reveal(v), 1)[0];
  CHECK(r.strip[0].layers == 2);
  CHECK(r.strip[3].key == key::kCpu);
}

TEST_CASE("reveal opens the way to any hop", "[trace]") {
  Net n;
  for (uint32_t i = 1; i <= n.s.size(); i++) {
    TraceModel m;
    m.reset(&n.s);
    settle(m);
    const auto at = m.reveal(EventId(i));
    REQUIRE(at);
    const TraceRow r = m.rows(*at, 1)[0];
    CHECK(r.event == EventId(i));
    CHECK(m.row_of_key(r.key) == at);
  }
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  CHECK_FALSE(m.reveal(EventId(1000)));
  CHECK_FALSE(m.reveal(EventId()));
}

TEST_CASE("a filter shows matches and the way to them", "[trace]") {
  Net n;
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  m.set_matches(std::vector<EventId>{n.addmm});
  CHECK(names(m) == std::vector<std::string>{"net Sequential", "  net.0 Linear", "    linear", "      addmm"});
  const auto rows = m.rows(0, 10);
  CHECK(rows[3].matches);
  CHECK_FALSE(rows[2].matches);
  CHECK_FALSE(m.reveal(n.loss));
  m.set_matches(std::vector<EventId>{});
  CHECK(m.rows() == 0);
  m.set_matches({});
  CHECK(m.reveal(n.loss));
}

TEST_CASE("growth keeps what is open", "[trace]") {
  Net n;
  n.s.live_ = true;
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  m.reveal(n.addmm);
  const uint64_t before = m.rows();
  n.call("aten::exp", key::kAutogradCpu, n.s.frame("/p/train.py", 19));
  n.s.generation_++;
  settle(m);
  CHECK(m.rows() == before + 1);
  CHECK(names(m).back() == "exp");
  // A call that is still running, then returns and has grown.
  const EventId open = n.call("aten::mm", key::kAutogradCpu, n.s.frame("/p/train.py", 20));
  n.s.at(open).end = kOpen;
  n.s.generation_++;
  settle(m);
  CHECK(m.rows(m.rows() - 1, 1)[0].running);
  n.s.hop(open, n.s.op("aten::mm"), Kind::kRedispatch, key::kCpu, bit::kTensor);
  n.s.at(open).end = n.s.at(open).begin + 7000;
  n.s.live_ = false;
  n.s.generation_++;
  settle(m);
  const TraceRow done = m.rows(m.rows() - 1, 1)[0];
  CHECK_FALSE(done.running);
  CHECK(done.time == 7000);
  CHECK(done.expandable);
}

TEST_CASE("raised and missing are told in the row", "[trace]") {
  Net n;
  const EventId bad = n.call("aten::cat", key::kAutogradCpu, n.after);
  n.s.at(bad).flags = kRaised;
  n.s.raised_.push_back({bad, "RuntimeError", "sizes differ"});
  const EventId gone = n.s.hop(bad, n.s.op("aten::cat"), Kind::kMissingKernel, key::kCuda, bit::kTensor);
  TraceModel m;
  m.reset(&n.s);
  settle(m);
  CHECK(m.rows(*m.reveal(bad), 1)[0].error == "raised RuntimeError");
  CHECK(m.rows(*m.reveal(gone), 1)[0].error == "no kernel");
}

TEST_CASE("under inference_mode the missing autograd layer is drawn as excluded", "[trace]") {
  test::FakeSession s;
  const EventId e = s.hop({}, s.op("aten::view"), Kind::kCall, key::kADInplaceOrView, bit::kTensor, bit::kTensor);
  s.at(e).tls = s.tls(bit::kIncluded, bit::kExcluded | bit::kAutogradSet, true, true);
  TraceModel m;
  m.reset(&s);
  settle(m);
  const TraceRow r = m.rows(0, 1)[0];
  CHECK(r.strip[0].mark == theme::Mark::kExcluded);
  CHECK(r.strip[1].mark == theme::Mark::kRan);
}

TEST_CASE("threads are counted apart", "[trace]") {
  test::FakeSession s;
  s.threads_.push_back({ThreadId(2), 1, 101, "autograd"});
  const OpId op = s.op("aten::add");
  EventId first;
  for (int i = 0; i < 40; i++) {
    const EventId e = s.hop({}, op, Kind::kCall, key::kCpu, bit::kTensor);
    if (!first) first = e;
    s.at(e).thread = ThreadId(1 + unsigned(i % 2));
  }
  TraceModel m;
  m.reset(&s);
  settle(m);
  const auto rows = m.rows(0, 100);
  REQUIRE(rows.size() == 21);
  CHECK(rows.back().name == "autograd");
  CHECK(rows.back().detail == "20 hops");
  CHECK(m.reveal(EventId(2)) == std::optional<uint64_t>(21));
}
