// What the Findings panel lists, on sessions made by hand.
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/findings_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

const std::atomic<bool> kNever{false};
Findings find_in(const test::FakeSession& s, const Ask& ask = {}) { return find_all(s, ask, kNever); }
std::vector<std::string> lines(const Findings& f) {
  std::vector<std::string> out;
  for (const Finding& i : f.rows)
    out.push_back(std::string(finding_word(i.kind)) + ": " + plain(i.sentence) + (i.count > 1 ? " x " + std::to_string(i.count) : "") +
                  (i.event ? " @" + std::to_string(i.event.value) : ""));
  return out;
}
using Lines = std::vector<std::string>;

/// A call at AutogradCPU with one tensor argument and one tensor result.
EventId call(test::FakeSession& s, const char* op, const char* takes, const char* gives, const char* dtype = "float32", TlsId tls = TlsId(1), StackId stack = {}) {
  const EventId e = s.hop({}, s.op(op), Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
  s.at(e).tls = tls, s.at(e).stack = stack;
  s.arguments_[e] = {s.tensor_value(0, "self", 1, "float32", "[2, 3]", takes)};
  s.results_[e] = {s.tensor_value(0, "", 2, dtype, "[2, 3]", gives)};
  return e;
}

}  // namespace

TEST_CASE("findings: nothing to say about a plain session", "[views][findings]") {
  test::FakeSession s;
  call(s, "aten::exp", "leaf", "leaf");
  const Findings f = find_in(s);
  CHECK(lines(f) == Lines{});
  CHECK(f.summary() == "0 findings in 1 hop, 0 notes; 0 lost, 0 inferred");
}

TEST_CASE("findings: an exception is said once, where it began, and repeats are counted", "[views][findings]") {
  test::FakeSession s;
  const OpId outer = s.op("aten::linear"), inner = s.op("aten::addmm");
  for (int i = 0; i < 3; i++) {
    const EventId o = s.hop({}, outer, Kind::kCall, key::kAutogradCpu, bit::kTensor), n = s.hop(o, inner, Kind::kCall, key::kCpu, bit::kTensor);
    s.hop(n, inner, Kind::kRedispatch, key::kCpu, bit::kTensor);
    for (EventId e : {o, n}) s.at(e).flags |= kRaised, s.raised_.push_back({e, "RuntimeError", "shapes differ"});
  }
  const Findings f = find_in(s);
  CHECK(lines(f) == Lines{"raised: addmm raised RuntimeError: shapes differ x 3 @2"});
  CHECK(f.rows[0].events == std::vector<EventId>{EventId(2), EventId(5), EventId(8)});
}

TEST_CASE("findings: failed look-ups are told apart from other exceptions", "[views][findings]") {
  test::FakeSession s;
  const EventId e = s.hop({}, s.op("my::op"), Kind::kMissingKernel, key::kCuda, 0);
  s.raised_.push_back({e, "NotImplementedError", "Could not run 'my::op'"});
  const Findings f = find_in(s);
  CHECK(lines(f) == Lines{"missing: my::op has no kernel for CUDA @1"});
  CHECK(f.rows[0].hover.starts_with("wanted: CUDA\navailable: no kernel at any key\nwould have been found: a kernel at CUDA\n"));
  CHECK(f.rows[0].hover.ends_with("NotImplementedError: Could not run 'my::op'"));
}

TEST_CASE("findings: how the program ended and what it left open", "[views][findings]") {
  test::FakeSession s;
  const EventId a = s.hop({}, s.op("aten::mm"), Kind::kCall, key::kAutogradCpu, bit::kTensor, 0, 1000, kOpen);
  s.hop(a, s.op("aten::mm"), Kind::kRedispatch, key::kCpu, bit::kCpu, 0, 1001, kOpen);
  s.meta_["state"] = "crashed", s.meta_["exit_code"] = "137";
  CHECK(lines(find_in(s)) == Lines{"ended: the program crashed: killed by signal 9; this was the last hop @2",
                                   "open: mm never returned, nor did 1 hop around it @2"});
  s.live_ = true, s.meta_["state"] = "running", s.meta_.erase("exit_code");
  CHECK(lines(find_in(s)) == Lines{});  // still running: open hops are no news
  s.live_ = false, s.at(EventId(1)).end = s.at(EventId(2)).end = 5000;
  s.meta_["state"] = "complete", s.meta_["exit_code"] = "3";
  CHECK(lines(find_in(s)) == Lines{"ended: the program ended with exit status 3"});
}

TEST_CASE("findings: where gradients stop with grad mode on", "[views][findings]") {
  test::FakeSession s;
  const StackId line = s.frame("a/train.py", 12);
  call(s, "aten::detach", "requires_grad", "leaf", "float32", TlsId(1), line);
  call(s, "aten::detach", "requires_grad", "leaf", "float32", TlsId(1), line);
  call(s, "aten::argmax", "requires_grad", "leaf", "int64");
  call(s, "aten::odd", "requires_grad", "leaf");
  call(s, "aten::exp", "requires_grad", "requires_grad");  // no stop
  call(s, "aten::mul", "leaf", "leaf");                    // nothing to stop
  call(s, "aten::empty_like", "requires_grad", "leaf");    // its shape only
  const EventId composite = call(s, "aten::linear", "requires_grad", "leaf");
  s.at(composite).kernel = s.kernel(s.op("aten::linear"), 0, "math kernel");
  const auto got = lines(find_in(s));
  CHECK(got == Lines{"stop: detach cuts the gradient: its result does not require one (train.py:12) x 2 @1",
                     "stop: argmax stops the gradient: whole numbers and truth values take none @3",
                     "stop: odd stops the gradient: an argument requires one, its result does not @4"});
}

TEST_CASE("findings: regions without grad mode are one line each, optimizers are none", "[views][findings]") {
  test::FakeSession s;
  const TlsId off = s.tls(bit::kIncluded, bit::kExcluded, false, false);
  const StackId line = s.frame("a/eval.py", 30), user = s.frame("a/train.py", 20), optim = s.frame("/lib/torch/optim/sgd.py", 80, "step", user);
  for (int i = 0; i < 10; i++) call(s, i % 2 ? "aten::mul" : "aten::add", "requires_grad", "leaf", "float32", off, line);
  call(s, "aten::add_", "requires_grad leaf", "leaf", "float32", off, optim);
  CHECK(lines(find_in(s)) == Lines{"stop: grad mode is off at eval.py:30: 10 calls make no node, though an argument requires a gradient @1"});
  CHECK(find_in(s).skipped == 4);
}

TEST_CASE("findings: without values it says that stops cannot be seen", "[views][findings]") {
  test::FakeSession s;
  s.at(call(s, "aten::detach", "requires_grad", "leaf")).flags |= kNoValues;
  const Findings f = find_in(s);
  CHECK(f.rows.empty());
  CHECK_FALSE(f.values);
  CHECK(f.summary().find("--detail keys") != std::string::npos);
}

TEST_CASE("findings: a leaf that no backward reached", "[views][findings]") {
  test::FakeSession s;
  const EventId e = call(s, "aten::mul", "requires_grad", "requires_grad");
  const NodeId mul = s.add_node(e, "MulBackward0", 1);
  s.add_node({}, "AccumulateGrad", UINT64_MAX, 0, TensorId(4));
  CHECK(lines(find_in(s)) == Lines{});  // no backward ran at all
  s.run_node({}, mul);
  CHECK(lines(find_in(s)) == Lines{"stop: t4 requires a gradient and got none: no backward reached it"});
}

TEST_CASE("findings: contradictions come from the file, losses and bookmarks from the session", "[views][findings]") {
  test::FakeSession s;
  call(s, "aten::exp", "leaf", "leaf");
  s.losses_ = {{"dropped", 312, "records that did not fit"}, {"inferred: tensor identity", 2, "met at the address of another"}};
  s.set_bookmark(EventId(1), "compare with autocast on", true);
  std::vector<std::string> asked;
  const Ask ask = [&](const std::string& sql) {
    asked.push_back(sql);
    QueryTable t;
    t.rows = asked.size() == 1 ? std::vector<std::vector<std::string>>{{"3"}} : std::vector<std::vector<std::string>>{{"1", "9"}, {"77", "10"}};
    return Result<QueryTable>(t);
  };
  const Findings f = find_in(s, ask);
  CHECK(lines(f) == Lines{"mixed: t9 is an inference tensor and requires a gradient at once, since exp @1",
                          "lost: dropped: records that did not fit x 312",
                          "inferred: tensor identity: met at the address of another x 2",
                          "note: “compare with autocast on” @1"});
  CHECK(f.summary() == "1 finding in 1 hop, 1 note; 312 lost, 2 inferred");
}

TEST_CASE("findings: an allocation that failed leads to its hop", "[views][findings]") {
  test::FakeSession s;
  call(s, "aten::gelu", "leaf", "leaf");
  const Ask ask = [&](const std::string& sql) {
    QueryTable t;
    if (sql.find("'oom'") != sql.npos) t.rows = {{"1", "268435456", "cuda:0", "1048576"}, {"99", "512", "cuda:0", "NULL"}}, t.is_null = {{false, false, false, false}, {false, false, false, true}};
    return Result<QueryTable>(t);
  };
  CHECK(lines(find_in(s, ask)) == Lines{"memory: 256 MiB could not be allocated on cuda:0 for gelu: 1.0 MiB were left there @1", "memory: 512 B could not be allocated on cuda:0"});
}
