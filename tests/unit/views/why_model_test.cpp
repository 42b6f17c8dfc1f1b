// What the Why panel draws, for hops whose explanation is given by hand (sessions/why has its own tests).
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/why_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

/// relu_ on a CPU tensor that requires grad: AutogradCPU, ADInplaceOrView, CPU, with clamp_min_ called inside.
struct Relu {
  test::FakeSession s;
  EventId call, inplace, cpu, clamp;
  NodeId node;
  Why w;
  Relu() {
    const OpId relu = s.op("aten::relu_"), clamp_op = s.op("aten::clamp_min_");
    call = s.hop({}, relu, Kind::kCall, key::kAutogradCpu, bit::kCpu | bit::kDense | bit::kAutograd | bit::kADInplaceOrView, bit::kTensor);
    inplace = s.hop(call, relu, Kind::kRedispatch, key::kADInplaceOrView, bit::kCpu | bit::kDense | bit::kADInplaceOrView);
    cpu = s.hop(inplace, relu, Kind::kRedispatch, key::kCpu, bit::kCpu | bit::kDense);
    clamp = s.hop(cpu, clamp_op, Kind::kCall, key::kCpu, bit::kCpu | bit::kDense, bit::kTensor);
    node = s.add_node(call, "ReluBackward0", 8, 3);
    w.event = w.call = call;
    w.title = "aten::relu_";
    w.where = "train_step.py:17";
    w.sentence = "AutogradCPU ran first: the highest key left, as autocast is off. It made ReluBackward0; the CPU kernel did the work.";
    w.never_involved = 39;
    const uint64_t result = bit::kCpu | bit::kDense | bit::kAutograd | bit::kADInplaceOrView;
    w.rows = {{WhyRow::Op::kArgument, "self", "t37 f32[8,16]", bit::kTensor, false},
              {WhyRow::Op::kUnion, "union of arguments", "", bit::kTensor, false},
              {WhyRow::Op::kIncluded, "thread included", "default", bit::kIncluded, false},
              {WhyRow::Op::kExcluded, "thread excluded", "", bit::kExcluded, false},
              {WhyRow::Op::kMask, "operator's mask", "", bit::kBackendSelect | bit::kAutocastCpu, false},
              {WhyRow::Op::kResult, "key set", "", result, false}};
    w.keys = {{key::kAutocastCpu, Verdict::kExcluded, "excluded: autocast is off (default)"},
              {key::kAutogradCpu, Verdict::kRan, "ran"},
              {key::kADInplaceOrView, Verdict::kRan, "ran"},
              {key::kBackendSelect, Verdict::kFellThrough, "falls through for relu_"},
              {key::kCpu, Verdict::kRan, "ran"}};
    auto layer = [](KeyId k, Verdict v) { OnionLayer l{}; l.key = k, l.verdict = v, l.own = l.total = -1; return l; };
    OnionLayer autocast = layer(key::kAutocastCpu, Verdict::kExcluded);
    autocast.reason = "excluded, autocast is off";
    OnionLayer autograd = layer(key::kAutogradCpu, Verdict::kRan);
    autograd.event = call, autograd.kind = Kind::kCall, autograd.rule = "autograd kernel", autograd.gloss = "records the backward graph";
    autograd.registered_at = "registered at /pytorch/torch/csrc/autograd/generated/VariableType_2.cpp:1234";
    autograd.nodes = {node}, autograd.own = 3500, autograd.total = 9100;
    OnionLayer iv = layer(key::kADInplaceOrView, Verdict::kRan);
    iv.event = inplace, iv.kind = Kind::kRedispatch, iv.rule = "kernel";
    iv.writes = {{inplace, TensorId(37), 1, 0, 1}};
    OnionLayer select = layer(key::kBackendSelect, Verdict::kFellThrough);
    select.reason = "falls through for relu_";
    OnionLayer bottom = layer(key::kCpu, Verdict::kRan);
    bottom.event = cpu, bottom.kind = Kind::kRedispatch, bottom.rule = "kernel", bottom.inner_calls = {clamp};
    bottom.registered_at = "registered at aten/src/ATen/RegisterCPU_2.cpp:9";
    w.onion = {autocast, autograd, iv, select, bottom};
  }
};

std::string cells(const WhyMatrixRow& r) {
  std::string s;
  for (Cell c : r.cells) s += ".#-x*"[static_cast<int>(c)];
  return s;
}

}  // namespace

TEST_CASE("why model: a sentence has its keys and nodes in bold", "[views][why]") {
  Relu r;
  const WhyModel m = make_why_model(r.s, r.w);
  CHECK(plain(m.sentence) == r.w.sentence);
  std::vector<std::string> strong;
  for (const Part& p : m.sentence) if (p.strong) strong.push_back(p.text);
  CHECK(strong == std::vector<std::string>{"AutogradCPU", "ReluBackward0", "CPU"});
  CHECK(m.where == "hop 1, train_step.py:17");
  CHECK(m.chosen == "How AutogradCPU was chosen");
}

TEST_CASE("why model: the onion has boxes for what ran and lines for what was skipped", "[views][why]") {
  Relu r;
  const WhyModel m = make_why_model(r.s, r.w);
  REQUIRE(m.layers.size() == 5);
  CHECK(m.layers[0].look == Look::kExcluded);
  CHECK_FALSE(m.layers[0].ran());
  CHECK(m.layers[0].reason == "skipped: excluded, autocast is off");
  CHECK(m.layers[1].look == Look::kRan);
  CHECK(m.layers[1].current);
  CHECK(m.layers[1].entry == "call, autograd kernel, VariableType_2");
  CHECK(m.layers[1].node_text == "ReluBackward0");
  CHECK(m.layers[1].own == "3.5");
  CHECK(m.layers[1].total == "9.1");
  CHECK(m.layers[2].writes == "t37 version 0 to 1");
  CHECK(m.layers[2].own.empty());
  CHECK(m.layers[3].look == Look::kFellThrough);
  CHECK(m.layers[4].entry == "redispatch, kernel, RegisterCPU_2");
  REQUIRE(m.layers[4].chips.size() == 1);
  CHECK(m.layers[4].chips[0].first == r.clamp);
  CHECK(m.layers[4].chips[0].op == "clamp_min_");
}

TEST_CASE("why model: the matrix marks who has, loses and wins each key", "[views][why]") {
  Relu r;
  const WhyModel m = make_why_model(r.s, r.w);
  REQUIRE(m.columns.size() == 5);
  CHECK(m.columns[0].name == "AutocastCPU");
  CHECK(m.columns[1].won);
  REQUIRE(m.rows.size() == 6);
  CHECK(cells(m.rows[0]) == "###.#");
  CHECK(cells(m.rows[1]) == "###.#");
  CHECK(cells(m.rows[2]) == "..##.");
  CHECK(cells(m.rows[3]) == "-....");
  CHECK(cells(m.rows[4]) == "x..x.");
  CHECK(cells(m.rows[5]) == ".*#.#");
  CHECK(std::string(m.rows[1].sign) == "∪");
  CHECK(m.rows[5].result);
}

TEST_CASE("why model: a set without backend bits still takes per-backend keys away", "[views][why]") {
  Relu r;
  r.w.rows[3].set = bit::kAutogradSet;  // inference mode: no backend bit in it
  CHECK(cells(make_why_model(r.s, r.w).rows[3]) == ".-...");
}

TEST_CASE("why model: list arguments that give the same keys share a row", "[views][why]") {
  Relu r;
  const WhyRow plain_row = r.w.rows[0];
  r.w.rows.erase(r.w.rows.begin());
  for (int i = 5; i-- > 0;) {
    WhyRow row = plain_row;
    row.label = "tensors[" + std::to_string(i) + "]";
    if (i == 2) row.set = bit::kInferenceTensor;
    r.w.rows.insert(r.w.rows.begin(), row);
  }
  const WhyModel m = make_why_model(r.s, r.w);
  REQUIRE(m.rows.size() == 5 + 3);
  CHECK(m.rows[0].folded == 2);
  CHECK(m.rows[0].label == "tensors[…]");
  CHECK(m.rows[1].folded == 1);
  CHECK(m.rows[1].label == "tensors[2]");
  CHECK(cells(m.rows[1]) == "#...#");
  CHECK(m.rows[2].folded == 2);
}

TEST_CASE("why model: arguments that give no key share a row and stay readable", "[views][why]") {
  Relu r;
  r.w.rows.insert(r.w.rows.begin() + 1, {WhyRow::Op::kArgument, "beta", "1 (no keys)", 0, true});
  r.w.rows.insert(r.w.rows.begin() + 2, {WhyRow::Op::kArgument, "alpha", "2 (no keys)", 0, true});
  const WhyModel m = make_why_model(r.s, r.w);
  REQUIRE(m.rows.size() == 7);
  CHECK(m.rows[1].label == "beta, alpha");
  CHECK(m.rows[1].note == "no keys");
  CHECK(m.rows[1].greyed);
  CHECK(m.rows[1].hover == "beta  1 (no keys)\nalpha  2 (no keys)");
  CHECK(cells(m.rows[1]) == ".....");
}

TEST_CASE("why model: a node's run is no dispatch", "[views][why]") {
  Relu r;
  const EventId run = r.s.run_node({}, r.node);
  Why w{};
  w.event = w.call = run, w.title = "ReluBackward0", w.sentence = "ReluBackward0 ran in backward; hop 1 had made it (relu_).";
  OnionLayer l{};
  l.event = run, l.kind = Kind::kBackwardNode, l.own = l.total = -1;
  w.onion = {l};
  const WhyModel m = make_why_model(r.s, w);
  CHECK(m.layers[0].node_run);
  CHECK(m.layers[0].key == "ReluBackward0");
  CHECK(m.sentence[0].strong);
  CHECK(m.chosen.empty());
  CHECK(m.rows.empty());
}

TEST_CASE("why model: when columns do not fit, the least telling go first", "[views][why]") {
  Relu r;
  const WhyModel m = make_why_model(r.s, r.w);
  CHECK(columns_that_fit(m, 5).size() == 5);
  CHECK(columns_that_fit(m, 9).size() == 5);
  CHECK(columns_that_fit(m, 3) == std::vector<size_t>{1, 2, 4});  // those that ran
  CHECK(columns_that_fit(m, 1) == std::vector<size_t>{1});
  CHECK(columns_that_fit(m, 0) == std::vector<size_t>{1});        // the winner always stays
}

TEST_CASE("why model: calls of one operator in a row are one chip", "[views][why]") {
  Relu r;
  const EventId second = r.s.hop(r.cpu, r.s.op("aten::clamp_min_"), Kind::kCall, key::kCpu, bit::kCpu | bit::kDense);
  const EventId other = r.s.hop(r.cpu, r.s.op("aten::copy_"), Kind::kCall, key::kCpu, bit::kCpu | bit::kDense);
  r.w.onion[4].inner_calls = {r.clamp, second, other};
  const auto chips = make_why_model(r.s, r.w).layers[4].chips;
  REQUIRE(chips.size() == 2);
  CHECK(chips[0].count == 2);
  CHECK(chips[1].first == other);
}

TEST_CASE("why model: raised, open and missing hops say so", "[views][why]") {
  Relu r;
  r.s.at(r.call).flags |= kRaised;
  r.s.at(r.cpu).end = kOpen;
  r.w.error = "RuntimeError: boom";
  WhyModel m = make_why_model(r.s, r.w);
  CHECK(m.layers[1].raised);
  CHECK(m.layers[4].open);
  CHECK(m.error == "RuntimeError: boom");

  test::FakeSession s;
  const EventId e = s.hop({}, s.op("my::op"), Kind::kMissingKernel, key::kCuda, 0);
  Why w{};
  w.event = w.call = e, w.title = "my::op";
  OnionLayer l{};
  l.key = key::kCuda, l.verdict = Verdict::kRan, l.event = e, l.kind = Kind::kMissingKernel, l.own = l.total = -1;
  w.onion = {l};
  w.keys = {{key::kCuda, Verdict::kRan, "no kernel"}};
  m = make_why_model(s, w);
  CHECK(m.missing);
  CHECK(m.layers[0].look == Look::kMissing);
  CHECK(m.columns[0].won);
  CHECK(m.chosen == "How the look-up came to CUDA");
}

TEST_CASE("why model: other keys to ask about, filtered, highest first", "[views][why]") {
  test::FakeSession s;
  const auto all = why_not_keys(s, key::kCpu, "");
  CHECK(std::none_of(all.begin(), all.end(), [](const WhyNotKey& k) { return k.name == "CPU" || k.name == "Undefined" || k.name == "Autograd"; }));
  CHECK(all[0].name == "FuncTorchBatched");
  const auto cuda = why_not_keys(s, key::kCpu, "cUdA");
  REQUIRE(cuda.size() == 3);
  CHECK(cuda[0].name == "AutocastCUDA");
  CHECK(cuda[1].name == "AutogradCUDA");
  CHECK(cuda[2].name == "CUDA");
}
