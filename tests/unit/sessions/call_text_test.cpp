// The program that repeats a call, against Python written by hand; that such programs run is tests/conformance/repeat.py.
#include "sessions/call_text.h"

#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"

using namespace peel;
using peel::test::FakeSession;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

struct Call {
  FakeSession s;
  EventId hop;
  Call(const char* op, const char* overload, const char* schema, std::vector<Op::Argument> arguments) {
    s.meta_ = {{"engine", "pytorch"}, {"engine_version", "2.13.0"}};
    const OpId o = s.op(op, overload, std::move(arguments));
    s.ops_[o.value].schema = schema;
    hop = s.hop({}, o, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor);
  }
  Value& tensor(int position, uint32_t id, const char* shape, const char* strides, const char* flags = "", const char* dtype = "torch.float32") {
    Value v = s.tensor_value(position, "", id, dtype, shape, flags);
    v.strides = strides;
    return s.arguments_[hop].emplace_back(std::move(v));
  }
  Value& plain(int position, const char* text, int list_index = -1) {
    Value v{};
    v.position = position, v.list_index = list_index, v.value = text, v.version = -1;
    return s.arguments_[hop].emplace_back(std::move(v));
  }
  /// The lines after the seed.
  std::string program() {
    const Result<std::string> r = call_program(s, hop);
    if (!r) return "error: " + r.error();
    return r->substr(r->find("torch.manual_seed(0)\n") + 21);
  }
};

constexpr const char* kAdd = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
const std::vector<Op::Argument> kAddArguments = {{"self", 2}, {"other", 2}, {"alpha", 0}};

}  // namespace

TEST_CASE("a program makes each tensor once, as it was described, and names what must be named", "[copy]") {
  Call c("aten::add", "Tensor", kAdd, kAddArguments);
  c.tensor(0, 1, "[2,3]", "[3,1]", "requires_grad,leaf");
  c.tensor(1, 1, "[2,3]", "[3,1]", "requires_grad,leaf");
  c.plain(2, "1");
  CHECK(c.program() == "self = torch.rand((2, 3)).requires_grad_()\n\nresult = torch.ops.aten.add.Tensor(self, self, alpha=1)\nprint(result)\n");
}

TEST_CASE("strides, dtypes, views, numbers and modes are set up", "[copy]") {
  Call c("aten::add", "Tensor", kAdd, kAddArguments);
  c.tensor(0, 1, "[2,3]", "[1,2]", "", "torch.float64");
  c.tensor(1, 2, "[4,3]", "[0,1]", "requires_grad", "torch.int64");
  c.plain(2, "inf");
  c.s.tensors_[TensorId(2)] = {TensorId(2), {}, kOpen, 1, TensorId(9), c.hop};
  c.s.at(c.hop).tls = c.s.tls(bit::kIncluded, bit::kExcluded, false, false);
  CHECK(c.program() == "self = torch.empty_strided((2, 3), (1, 2), dtype=torch.float64).uniform_()\n"
                       "other = torch.zeros(3, dtype=torch.int64).requires_grad_().clone().as_strided((4, 3), (0, 1))\n\n"
                       "with torch.no_grad():\n    result = torch.ops.aten.add.Tensor(self, other, alpha=inf)\nprint(result)\n");
  CHECK(call_program(c.s, c.hop)->find("from math import inf, nan\n") != std::string::npos);
  c.s.at(c.hop).tls = c.s.tls(bit::kBackendSelect, bit::kExcluded | bit::kAutogradSet, false, true);
  CHECK(c.program().find("with torch.inference_mode():\n") != std::string::npos);
  // a call that an autograd kernel made
  c.s.at(c.hop).tls = c.s.tls(bit::kIncluded, bit::kExcluded | bit::kAutogradSet, true, false);
  CHECK(c.program().find("with torch._C._ForceDispatchKeyGuard(torch._C.DispatchKeySet.from_raw_repr(0x404000000), ") != std::string::npos);
}

TEST_CASE("a tensor that is written is a view where it was one; what unsafe_chunk made is none for autograd", "[copy]") {
  Call c("aten::relu_", "", "aten::relu_(Tensor(a!) self) -> Tensor(a!)", {{"self", 3}});
  c.tensor(0, 2, "[2,3]", "[3,1]");
  c.s.tensors_[TensorId(2)] = {TensorId(2), {}, kOpen, 1, TensorId(9), c.hop};
  CHECK(c.program().find("self = torch.rand((2, 3)).view((2, 3))\n") == 0);
  const EventId chunk = c.s.hop({}, c.s.op("aten::unsafe_chunk"), Kind::kCall, key::kAutogradCpu, bit::kTensor);
  const EventId inside = c.s.hop(chunk, c.s.op("aten::slice", "Tensor"), Kind::kCall, key::kCpu, bit::kTensor);
  c.s.tensors_[TensorId(2)].birth = inside;
  CHECK(c.program().find("self = torch.rand((2, 3))\n") == 0);
  c.s.arguments_[c.hop][0].strides = "[12,1]", c.s.arguments_[c.hop][0].flags = "requires_grad";
  CHECK(c.program().find("self = torch.unsafe_split(torch.rand(15).as_strided((2, 3), (12, 1)).requires_grad_(), 2)[0]\n") == 0);
}

TEST_CASE("lists, None, wrapped numbers and Python's own words", "[copy]") {
  Call c("aten::index", "Tensor", "aten::index.Tensor(Tensor self, Tensor?[] indices, str lambda='a, b') -> Tensor", {{"self", 2}, {"indices", 2}, {"lambda", 0}});
  c.tensor(0, 1, "[]", "[]", "wrapped_number", "torch.float64");
  c.plain(1, "None", 0);
  c.tensor(1, 2, "[2]", "[1]", "", "torch.bool").list_index = 1;
  c.plain(2, "'x'");
  CHECK(c.program() == "self = torch.rand((), dtype=torch.float64)\nindices_1 = torch.ones((2,), dtype=torch.bool)\n\nresult = torch.ops.aten.index.Tensor(self, [None, indices_1], 'x')\nprint(result)\n");
  Call add("aten::add", "Tensor", kAdd, kAddArguments);  // torch.ops takes numbers for tensors here
  add.tensor(0, 1, "[2]", "[1]");
  add.tensor(1, 2, "[]", "[]", "wrapped_number", "torch.float64");
  add.plain(2, "1");
  CHECK(add.program() == "self = torch.rand((2,))\n\nresult = torch.ops.aten.add.Tensor(self, 2.0, alpha=1)\nprint(result)\n");
}

TEST_CASE("what can't be made is said in one sentence that names the argument", "[copy]") {
  Call c("aten::add", "Tensor", kAdd, kAddArguments);
  Value& self = c.tensor(0, 1, "[2]", "[1]");
  CHECK(c.program() == "error: argument 1 of hop 1 is not in the recording");
  c.tensor(1, 2, "[2]", "[1]");
  c.plain(2, "[1, 2, …]");
  CHECK(c.program() == "error: argument alpha of hop 1 can't be made: it was cut in the recording");
  (void)self;
  c.s.keysets_.push_back({1, "DispatchKeySet(CPU, Python, PythonTLSSnapshot)"});
  c.s.arguments_[c.hop][0].keyset = KeysetId(static_cast<uint32_t>(c.s.keysets_.size() - 1));
  CHECK(c.program() == "error: argument self of hop 1 can't be made: it is of a Python class of its own");
  c.s.at(c.hop).flags |= kNoValues;
  CHECK(c.program() == "error: the arguments of hop 1 were not recorded (--detail keys)");
  const EventId run = c.s.run_node({}, c.s.add_node(c.hop, "AddBackward0", 1));
  CHECK(call_program(c.s, run).error() == "hop 2 is no call of an operator: only calls can be repeated");
  CHECK(call_text(c.s, EventId(77), CallForm::kSql).error() == "there is no hop 77 in fake.peel");
}

TEST_CASE("a file's texts don't get into the program as code", "[copy]") {
  for (const char* evil : {"__import__('os').system('x')", "'a' + open('b')", "1; import os", "'a\nb'", "[1, exit()]", "'\\'", "e()"}) {
    Call c("aten::f", "", "aten::f(str a) -> Tensor", {{"a", 0}});
    c.plain(0, evil);
    INFO(evil);
    CHECK(c.program().find("can't be made: it is recorded as") != std::string::npos);
  }
  for (const char* good : {"'it\\'s'", "\"it's\"", "[1, -2]", "(1.5+2j)", "-inf", "1e-05", "[True, False]", "''"}) {
    Call c("aten::f", "", "aten::f(str a) -> Tensor", {{"a", 0}});
    c.plain(0, good);
    CHECK(c.program() == "\nresult = torch.ops.aten.f.default(" + std::string(good) + ")\nprint(result)\n");
  }
  Call c("aten::f;import os", "", "aten::f(Tensor a) -> Tensor", {{"a\nimport os", 2}});
  c.tensor(0, 1, "[2]", "[1]");
  CHECK(c.program() == "error: hop 1 calls an operator whose name no program can write");
  Call d("aten::f", "", "aten::f(Tensor a) -> Tensor", {{"a\nimport os", 2}});
  d.tensor(0, 1, "[2]", "[1]", "", "float32)\nimport os");
  CHECK(d.program() == "error: argument argument_0 of hop 1 can't be made: its dtype or device has an odd name");
  d.s.arguments_[d.hop][0].dtype = "torch.float32";
  d.s.meta_["engine_version"] = "2\nimport os";
  d.s.raised_ = {{d.hop, "Error", "a\nimport os"}};
  CHECK(call_program(d.s, d.hop)->find("\nimport os") == std::string::npos);
}

TEST_CASE("a redispatch repeats the call that it is a layer of; SQL asks for that one's arguments", "[copy]") {
  Call c("aten::relu", "", "aten::relu(Tensor self) -> Tensor", {{"self", 2}});
  c.tensor(0, 1, "[2]", "[1]");
  const EventId inner = c.s.hop(c.hop, c.s.event(c.hop).op, Kind::kRedispatch, key::kCpu, bit::kTensor);
  CHECK(call_of(c.s, inner) == c.hop);
  CHECK(call_program(c.s, inner)->find("# Repeats hop 1 of fake.peel: aten::relu.\n") == 0);
  const std::string sql = *call_text(c.s, inner, CallForm::kSql);
  CHECK(sql.find("WHERE a.event = 1)") != std::string::npos);
  CHECK(sql.find("WHERE h.id = 2;") != std::string::npos);
}
