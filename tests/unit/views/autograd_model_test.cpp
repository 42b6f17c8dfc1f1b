// The graph that the Autograd panel draws for a training step: boxes, order in backward, where gradients stop.
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/autograd_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

const std::atomic<bool> kNever{false};

/// y = relu(addmm(bias, x, weight.t())) in module net.0, twice; both iterations share the AccumulateGrad nodes.
struct Steps {
  test::FakeSession s;
  OpId linear, t, addmm, relu;
  NodeId weight, bias, tnode[2], anode[2], rnode[2];
  EventId call[2], acall[2], rcall[2], backward[2], arun[2];
  explicit Steps(bool run = true) {
    linear = s.op("aten::linear", "", {{"input", 2}, {"weight", 2}, {"bias", 2}});
    t = s.op("aten::t", "", {{"self", 2}});
    addmm = s.op("aten::addmm", "", {{"self", 2}, {"mat1", 2}, {"mat2", 2}, {"beta", 4}, {"alpha", 4}});
    relu = s.op("aten::relu", "", {{"self", 2}});
    weight = s.add_node({}, "AccumulateGrad", UINT64_MAX, 0, TensorId(10));
    bias = s.add_node({}, "AccumulateGrad", UINT64_MAX, 0, TensorId(11));
    for (int i = 0; i < 2; i++) {
      call[i] = s.hop({}, linear, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
      s.at(call[i]).stack = s.frame("dir/train.py", 17);
      s.arguments_[call[i]] = {s.tensor_value(0, "input", 5, "float32", "[8, 4]"), s.tensor_value(1, "weight", 10, "float32", "[16, 4]"),
                               s.tensor_value(2, "bias", 11, "float32", "[16]")};
      const EventId tcall = s.hop(call[i], t, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
      s.arguments_[tcall] = {s.tensor_value(0, "self", 10, "float32", "[16, 4]")};
      acall[i] = s.hop(call[i], addmm, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
      s.arguments_[acall[i]] = {s.tensor_value(0, "self", 11, "float32", "[16]"), s.tensor_value(1, "mat1", 5, "float32", "[8, 4]"),
                                s.tensor_value(2, "mat2", 12, "float32", "[4, 16]")};
      s.hop(acall[i], addmm, Kind::kRedispatch, key::kCpu, bit::kCpu | bit::kDense);
      rcall[i] = s.hop({}, relu, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
      const auto n = static_cast<uint64_t>(3 * i);
      tnode[i] = s.add_node(tcall, "TBackward0", n);
      anode[i] = s.add_node(acall[i], "AddmmBackward0", n + 1);
      rnode[i] = s.add_node(rcall[i], "ReluBackward0", n + 2);
      s.add_edge(tnode[i], 0, weight), s.add_edge(anode[i], 0, bias), s.add_edge(anode[i], 1, {}), s.add_edge(anode[i], 2, tnode[i]);
      s.add_edge(rnode[i], 0, anode[i]);
      s.spans_.push_back({SpanId(static_cast<uint32_t>(i + 1)), {}, "module", "net.0", "Linear", ThreadId(1), call[i], s.last(call[i]), 0, 0, {}, 0});
      if (!run) continue;
      for (NodeId node : {rnode[i], anode[i], bias, tnode[i], weight}) {
        const EventId e = s.run_node({}, node, 100 + i);
        if (node == rnode[i]) backward[i] = e;
        if (node == anode[i]) arun[i] = e;
      }
    }
  }
  AutogradModel model(NodeId focus, AutogradOptions o = {}) { return make_autograd_model(s, focus, o, kNever); }
};

const GraphBox* find(const AutogradModel& m, std::string_view name) {
  for (const GraphBox& b : m.boxes) if (b.name == name) return &b;
  return nullptr;
}

}  // namespace

TEST_CASE("autograd model: one iteration only, though parameters are shared", "[views][autograd]") {
  Steps t;
  const AutogradModel m = t.model(t.anode[0]);
  CHECK(m.nodes_found == 5);
  CHECK(m.boxes.size() == 6);  // and the stop at mat1
  CHECK_FALSE(m.box_of.contains(t.anode[1]));
  CHECK(plain(m.sentence) == "3 nodes lead to 2 leaves; all ran in backward. The gradient stops at mat1: it does not require it.");
  CHECK(m.layout.at.size() == 6);
}

TEST_CASE("autograd model: words of boxes, order in backward, names of parameters", "[views][autograd]") {
  Steps t;
  const AutogradModel m = t.model(t.anode[1]);
  const GraphBox* addmm = find(m, "AddmmBackward0");
  REQUIRE(addmm);
  CHECK(addmm->second == "#4  hop " + std::to_string(t.acall[1].value));
  CHECK(addmm->order == 2);
  CHECK(find(m, "ReluBackward0")->order == 1);
  const GraphBox* leaf = find(m, "net.0.weight");
  REQUIRE(leaf);
  CHECK(leaf->kind == GraphBox::Kind::kLeaf);
  CHECK(leaf->order == 5);
  CHECK(find(m, "net.0.bias")->order == 3);
  const GraphBox* stop = find(m, "mat1");
  REQUIRE(stop);
  CHECK(stop->kind == GraphBox::Kind::kStop);
  CHECK(stop->tensor == TensorId(5));
  CHECK(m.ran == 5);
}

TEST_CASE("autograd model: the gradient flows from right to left", "[views][autograd]") {
  Steps t;
  const AutogradModel m = t.model(t.rnode[0]);
  for (const GraphEdge& e : m.edges) CHECK(m.layout.at[e.from].x >= m.layout.at[e.to].x + m.boxes[e.to].w);
}

TEST_CASE("autograd model: a shared leaf shows the backward that is asked for", "[views][autograd]") {
  Steps t;
  AutogradOptions o;
  o.graph_task = 101;
  CHECK(t.model(t.weight, o).box_of.contains(t.anode[1]));
  o.graph_task = 100;
  CHECK(t.model(t.weight, o).box_of.contains(t.anode[0]));
}

TEST_CASE("autograd model: without a backward it says so", "[views][autograd]") {
  Steps t(false);
  const AutogradModel m = t.model(t.rnode[0]);
  CHECK(m.graph_task == -1);
  CHECK(m.ran == 0);
  CHECK(plain(m.sentence).find("no backward ran through them") != std::string::npos);
}

TEST_CASE("autograd model: a large graph is folded, nearest first, and counted", "[views][autograd]") {
  test::FakeSession s;
  const OpId mul = s.op("aten::mul");
  std::vector<NodeId> chain;
  for (int i = 0; i < 1000; i++) {
    chain.push_back(s.add_node(s.hop({}, mul, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor), "MulBackward0", static_cast<uint64_t>(i)));
    if (i) s.add_edge(chain.back(), 0, chain[chain.size() - 2]);
  }
  AutogradOptions o;
  o.max_boxes = 50;
  AutogradModel m = make_autograd_model(s, chain[500], o, kNever);
  CHECK(m.nodes_drawn == 50);
  CHECK(m.nodes_found == 1000);
  CHECK(m.box_of.contains(chain[490]));
  CHECK(m.box_of.contains(chain[510]));
  CHECK_FALSE(m.box_of.contains(chain[0]));
  CHECK(std::count_if(m.boxes.begin(), m.boxes.end(), [](const GraphBox& b) { return b.kind == GraphBox::Kind::kFolded; }) == 2);
  o.max_search = 100;
  m = make_autograd_model(s, chain[500], o, kNever);
  CHECK(m.search_cut);
  CHECK(m.nodes_found == 100);
  CHECK(plain(m.sentence).starts_with("More than 100 nodes"));
}

TEST_CASE("autograd model: which node a hop is about", "[views][autograd]") {
  Steps t;
  CHECK(node_for(t.s, t.acall[0]) == t.anode[0]);
  CHECK(node_for(t.s, EventId(t.acall[0].value + 1)) == t.anode[0]);  // its CPU layer
  CHECK(node_for(t.s, t.call[0]) == t.tnode[0]);                      // composite: the first made inside
  CHECK(node_for(t.s, t.arun[1]) == t.anode[1]);                      // a node's run
  const EventId after = t.s.hop({}, t.s.op("aten::randn"), Kind::kCall, key::kCpu, bit::kCpu);
  CHECK(node_for(t.s, after) == t.rnode[1]);                          // nothing of its own: the nearest before
  CHECK(graph_task_at(t.s, t.arun[1]) == 101);
  CHECK(graph_task_at(t.s, after) == -1);
  CHECK_FALSE(node_for(t.s, EventId(100000)));
}

TEST_CASE("autograd model: details lead to the hop, the neighbours and the run", "[views][autograd]") {
  Steps t;
  const AutogradModel m = t.model(t.anode[0]);
  const NodeDetails d = node_details(t.s, t.anode[0], m);
  CHECK(d.made_by == t.acall[0]);
  CHECK(d.made_op == "addmm");
  CHECK(d.made_key == "AutogradCPU");
  CHECK(d.made_line == "train.py:17");
  CHECK(d.sequence == "sequence number 1");
  REQUIRE(d.passes_to.size() == 2);
  CHECK(d.passes_to[0].text == "net.0.bias");
  CHECK(d.passes_to[1].text == "TBackward0 #0");
  REQUIRE(d.comes_from.size() == 1);
  CHECK(d.comes_from[0].node == t.rnode[0]);
  CHECK(d.run == t.arun[0]);
  CHECK(d.run_text == "Ran in backward, 2nd of 5");
  const NodeDetails leaf = node_details(t.s, t.weight, m);
  CHECK(leaf.leaf);
  CHECK(leaf.parameter == "net.0.weight");
  CHECK(leaf.run_text == "Ran in backward, 5th of 5, one of 2 times");
}

TEST_CASE("autograd model: what a node saves, with the write since and each storage counted once", "[views][autograd][saved]") {
  Steps t;
  const NodeId node = t.anode[0];
  t.s.tensors_[TensorId(70)] = {TensorId(70), t.acall[0], kOpen, 33, {}, t.acall[0]};
  t.s.tensors_[TensorId(71)] = {TensorId(71), t.acall[0], kOpen, 33, TensorId(70), t.acall[0]};
  t.s.saved_ = {{node, "_saved_mat1", -1, TensorId(70), "torch.float32", "[8,16]", 0, 512, 0},
                {node, "_saved_tensors", 1, TensorId(71), "torch.float32", "[16]", -1, 512, kSavedInside},
                {node, "_saved_mat2", -1, TensorId(), "", "", 0, 0, kSavedPacked}};
  const EventId later = t.s.hop({}, t.s.op("aten::add_"), Kind::kCall, key::kCpu, bit::kTensor);
  t.s.writes_ = {{later, TensorId(70), 33, 0, 1}};
  CHECK(node_details(t.s, node, t.model(node)).saved[0].note == "f32[8,16], version 0");  // it had run before
  std::erase_if(t.s.runs_, [&](const NodeRun& r) { return r.node == node; });
  const NodeDetails d = node_details(t.s, node, t.model(node));
  CHECK(d.saved_head == "Saves 3 tensors, 512 B");
  REQUIRE(d.saved.size() == 3);
  CHECK(d.saved[0].text == "_saved_mat1 t70");
  CHECK(d.saved[0].note == "f32[8,16], version 0, later 1");
  CHECK(d.saved[0].event == later);
  CHECK(d.saved[1].text == "_saved_tensors[1] t71");
  CHECK(d.saved[1].note == "f32[16], of the node inside");
  CHECK(d.saved[2].note == "version 0, packed by a hook");
  CHECK(d.saved[2].tensor == TensorId());
}
