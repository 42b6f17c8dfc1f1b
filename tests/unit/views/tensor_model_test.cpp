// One tensor's life, from sessions made by hand.
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/tensor_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

/// t1 = randn(); t2 = t1.view(); t2.mul_(2) (writes t1's storage); relu_(t1); exp(t1)
struct Life {
  test::FakeSession s;
  EventId randn, view, mul, mul_cpu, relu, exp;
  Life() {
    randn = s.hop({}, s.op("aten::randn"), Kind::kCall, key::kCpu, bit::kTensor);
    view = call("aten::view", 1);
    mul = call("aten::mul_", 2);
    mul_cpu = s.hop(mul, s.op("aten::mul_"), Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.arguments_[mul_cpu] = s.arguments_[mul];
    relu = call("aten::relu_", 1);
    exp = call("aten::exp", 1);
    s.at(exp).stack = s.frame("a/train.py", 9);
    s.results_[randn] = {s.tensor_value(0, "", 1, "float32", "[8, 16]", "leaf", 0)};
    s.results_[view] = {s.tensor_value(0, "", 2)};
    s.tensors_[TensorId(1)] = {TensorId(1), randn, kOpen, 7, {}, randn};
    s.tensors_[TensorId(2)] = {TensorId(2), view, kOpen, 7, TensorId(1), view};
    s.writes_ = {{mul, TensorId(2), 7, 0, 1}, {relu, TensorId(1), 7, 1, 2}};
  }
  EventId call(const char* op, uint32_t takes) {
    const EventId e = s.hop({}, s.op(op), Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
    s.arguments_[e] = {s.tensor_value(0, "self", takes, "float32", "[8, 16]")};
    return e;
  }
};

std::vector<std::string> words(const TensorModel& m) {
  std::vector<std::string> out;
  for (const TensorMoment& i : m.moments) out.push_back((i.event ? std::to_string(i.event.value) + " " : "") + plain(i.words));
  return out;
}

}  // namespace

TEST_CASE("tensor model: birth, views, writes through views, uses, in order", "[views][tensor]") {
  Life l;
  const TensorModel m = make_tensor_model(l.s, TensorId(1), l.relu);
  CHECK(words(m) == std::vector<std::string>{"1 born in randn", "2 view made the view t2", "3 version 0 to 1 by mul_ through t2", "5 version 1 to 2 by relu_",
                                             "6 used by exp as self", "death unknown: the recorder does not see when a tensor is freed"});
  CHECK(m.moments[0].note == "grad mode on");
  CHECK(m.moments[2].tensor == TensorId(2));
  CHECK(m.moments[3].current);
  CHECK_FALSE(m.moments[2].current);
  CHECK(m.moments[4].later);
  CHECK(m.moments[4].note == "train.py:9");
  CHECK(m.others == std::vector<TensorId>{TensorId(2)});
  CHECK(plain(m.sentence) == "t1 was born in randn with grad mode on; its storage was written 2 times, 2 calls used it.");
}

TEST_CASE("tensor model: what it is as of the selection", "[views][tensor]") {
  Life l;
  CHECK(make_tensor_model(l.s, TensorId(1), l.randn).brief == "f32 [8,16], cpu, version 0");
  CHECK(make_tensor_model(l.s, TensorId(1), l.mul).brief == "f32 [8,16], cpu, version 1");
  CHECK(make_tensor_model(l.s, TensorId(1), l.relu).brief == "f32 [8,16], cpu, version 2");
}

TEST_CASE("tensor model: a view names its base, the mode of its birth is said", "[views][tensor]") {
  Life l;
  l.s.at(l.view).tls = l.s.tls(bit::kIncluded, bit::kExcluded, false, false);
  const TensorModel m = make_tensor_model(l.s, TensorId(2), {});
  CHECK(m.base == TensorId(1));
  CHECK(plain(m.moments[0].words) == "born in view, a view of t1");
  CHECK(m.moments[0].note == "grad mode off");
  l.s.at(l.view).tls = l.s.tls(0, bit::kAutogradSet, false, true);
  CHECK(make_tensor_model(l.s, TensorId(2), {}).moments[0].note == "inference mode");
}

TEST_CASE("tensor model: born inside of another operator; odd strides are said, plain ones are not", "[views][tensor]") {
  Life l;
  const EventId inner = l.s.hop(l.exp, l.s.op("aten::empty"), Kind::kCall, key::kCpu, bit::kTensor);
  Value v = l.s.tensor_value(0, "", 3, "float32", "[8, 16]");
  v.strides = "[16, 1]";
  l.s.results_[inner] = {v};
  l.s.tensors_[TensorId(3)] = {TensorId(3), inner, kOpen, 8, {}, inner};
  TensorModel m = make_tensor_model(l.s, TensorId(3), {});
  CHECK(plain(m.moments[0].words) == "born in empty within exp");
  CHECK(m.brief == "f32 [8,16], cpu, version 0");
  l.s.results_[inner][0].strides = "[1, 8]";
  CHECK(make_tensor_model(l.s, TensorId(3), {}).brief == "f32 [8,16], cpu, strides [1, 8], version 0");
}

TEST_CASE("tensor model: a write that bumps nothing is said", "[views][tensor]") {
  Life l;
  l.s.writes_.push_back({l.exp, TensorId(1), 7, 2, 2});
  const TensorModel m = make_tensor_model(l.s, TensorId(1), {});
  CHECK(plain(m.moments[4].words) == "written, version stays 2, by exp");
  CHECK(plain(m.sentence).find("written 3 times, 1 without a version bump") != std::string::npos);
}

TEST_CASE("tensor model: many uses are folded around the selection and counted", "[views][tensor]") {
  Life l;
  for (int i = 0; i < 500; i++) l.call("aten::exp", 1);
  const EventId middle = l.call("aten::sin", 1);
  for (int i = 0; i < 500; i++) l.call("aten::exp", 1);
  const TensorModel m = make_tensor_model(l.s, TensorId(1), middle);
  CHECK(m.moments.size() < 80);
  uint64_t uses = m.uses_folded;
  bool current = false;
  for (const TensorMoment& i : m.moments) uses += i.kind == TensorMoment::Kind::kUse, current |= i.current;
  CHECK(uses == 1002);
  CHECK(current);
}

TEST_CASE("tensor model: what was made outside, and unknown tensors", "[views][tensor]") {
  Life l;
  l.s.tensors_[TensorId(9)] = {TensorId(9), {}, kOpen, 9, {}, l.exp};
  const TensorModel m = make_tensor_model(l.s, TensorId(9), {});
  CHECK(plain(m.moments[0].words) == "first seen by exp");
  CHECK(m.moments[0].kind == TensorMoment::Kind::kFirstSeen);
  CHECK_FALSE(make_tensor_model(l.s, TensorId(77), {}).known);
}

TEST_CASE("tensor model: which tensor a hop is about", "[views][tensor]") {
  Life l;
  CHECK(tensor_for(l.s, l.randn) == TensorId(1));    // its result
  CHECK(tensor_for(l.s, l.relu) == TensorId(1));     // no result recorded: its argument
  CHECK(tensor_for(l.s, l.mul_cpu) == TensorId(2));  // a layer: that of its call
  CHECK_FALSE(tensor_for(l.s, EventId(999)));
  CHECK_FALSE(tensor_for(l.s, {}));
}

TEST_CASE("tensor model: the nodes that saved it and their runs stand in order", "[views][tensor][saved]") {
  Life l;
  const NodeId node = l.s.add_node(l.exp, "ExpBackward0", 3);
  const EventId run = l.s.run_node({}, node);
  l.s.saved_ = {{node, "_saved_self", -1, TensorId(1), "float32", "[8,16]", 2, 512, 0}, {node, "_saved_other", -1, TensorId(9), "", "", 0, 0, 0}};
  const TensorModel m = make_tensor_model(l.s, TensorId(1), l.exp);
  CHECK(words(m) == std::vector<std::string>{"1 born in randn", "2 view made the view t2", "3 version 0 to 1 by mul_ through t2", "5 version 1 to 2 by relu_",
                                             "6 used by exp as self", "6 saved by ExpBackward0 as _saved_self, version 2", std::to_string(run.value) + " read by ExpBackward0 in backward",
                                             "death unknown: the recorder does not see when a tensor is freed"});
  CHECK(m.moments[5].note == "keeps 512 B");
  CHECK(m.birth == l.randn);
  CHECK(plain(m.sentence) == "t1 was born in randn with grad mode on; its storage was written 2 times, 1 node saved it, 2 calls used it.");
  l.s.at(run).flags |= kRaised;
  CHECK(words(make_tensor_model(l.s, TensorId(1), l.exp))[6] == std::to_string(run.value) + " refused by ExpBackward0 in backward");
}
