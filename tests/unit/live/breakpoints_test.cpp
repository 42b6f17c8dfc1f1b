// Breakpoints: what is parsed, the table that a program gets, matching, and the same over recorded hops.
#include "sessions/breakpoint.h"

#include "tests/unit/live/fake_engine.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;
using wire::Break;
using wire::Phase;
using wire::What;

namespace {

std::string wrong(const char* text) {
  const Result<Breakpoint> b = Breakpoint::parse(text);
  return b ? "" : b.error();
}

bool hits(const char* text, const FakeView& v) {
  const Result<Breakpoint> b = Breakpoint::parse(text);
  INFO(text << ": " << (b ? "" : b.error()));
  REQUIRE(b);
  wire::BreakSet set;
  set.set({b->table_row(5, false)});
  return set.match(v) == 1ull << 5;
}

}  // namespace

TEST_CASE("a bad breakpoint gives one sentence", "[live]") {
  for (const char* text : {"", "   ", "op:", "keey:CPU", "line:abc", "hit:0", "hit:x", "-hit:3", "grad:maybe", "has:", "finding:x", "hit:3", "write:self", "\"open", "-"}) {
    const std::string sentence = wrong(text);
    INFO(text << ": " << sentence);
    CHECK(sentence.size() > 10);
    CHECK(sentence.find('\n') == std::string::npos);
  }
  CHECK(wrong("keey:CPU").find("has, grad, inference, write, finding, dtype, shape, device, requires_grad and hit") != std::string::npos);
  CHECK(wrong("op:add keey:CPU").find("character 8") != std::string::npos);  // places are those of the whole text
  CHECK(wrong("hit:3 keey:CPU").find("character 7") != std::string::npos);
  for (const auto& [text, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"op:mm dtype:flaot32", "`flaot32` is no dtype (at character 13)"}, {"dtype:", "`dtype:` needs"}, {"dtype:float32,", "character 14"}, {"shape:2,3", "`2` is no shape (at character 7)"},
           {"shape:[2,3", "character 7"}, {"shape:[2,x]", "`[2,x]`"}, {"shape:[2,,3]", "`[2,,3]`"}, {"shape:[-1]", "`[-1]`"}, {"shape:[2 3]", "`[2 3]`"}, {"shape:[2,3,]", "`[2,3,]`"}, {"shape:[99999999999999999999]", "is no shape"}, {"device:cdua", "`cdua` is no device (at character 8)"}, {"device:cuda:x", "`cuda:x`"},
           {"device:0", "`0`"}, {"requires_grad:True", "write requires_grad:on or requires_grad:off"}, {"requires_grad:on,off", "write requires_grad:on"}}) {
    const std::string sentence = wrong(text);
    INFO(text << ": " << sentence);
    CHECK(sentence.find(words) != std::string::npos);
  }
  CHECK(wrong(std::string(5000, 'a').c_str()).find("too long") != std::string::npos);
  for (const char* text : {"addmm", "op:addmm key:AutogradCPU", "error:", "node:", "write:", "finding:", "-key:CPU mm", "line:train.py:14", "mm hit:10", "has:Autograd* grad:off"}) CHECK(wrong(text) == "");
}

TEST_CASE("the words of the filter mean the same to a breakpoint", "[live]") {
  FakeView v;
  v.op_id = 7;
  v.key_text = "AutogradCPU";
  CHECK(hits("add", v));
  CHECK(hits("aten::add.Tensor", v));
  CHECK_FALSE(hits("add_", v));
  CHECK(hits("op:add,mul key:Autograd*", v));
  CHECK_FALSE(hits("op:add key:CPU", v));
  CHECK(hits("op:add -key:CPU", v));
  CHECK(hits("kind:call", v));
  CHECK_FALSE(hits("kind:redispatch", v));
  CHECK(hits("line:train.py:1", v));
  CHECK_FALSE(hits("line:2-9", v));
  CHECK(hits("file:train.py", v));
  CHECK(hits("-thread:worker thread:ma*", v));
  CHECK(hits("has:Autograd* grad:on inference:off", v));
  CHECK_FALSE(hits("add grad:off", v));
}

TEST_CASE("what only the kernel's end tells is asked then, and only then", "[live]") {
  FakeView v;
  v.op_id = 7;
  v.type = "RuntimeError", v.message = "mat1 and mat2 shapes cannot be multiplied";
  v.raised = true;
  v.made = {"AddmmBackward0"};
  v.storages = {0xabc0};
  for (const char* text : {"error:", "error:RuntimeError", "\"error:cannot be\"", "node:", "node:Addmm*", "write:", "add error:", "finding:"}) {
    v.phase = Phase::kBefore;
    CHECK_FALSE(hits(text, v));
    v.phase = Phase::kAfter;
    CHECK(hits(text, v));
  }
  CHECK_FALSE(hits("add", v));  // that is for before
  CHECK_FALSE(hits("error:ValueError", v));
  CHECK_FALSE(hits("node:Mul*", v));
  v.raised = false;
  CHECK_FALSE(hits("finding:", v));
  v.mixed = true;
  CHECK(hits("finding:", v));
  const auto named = Breakpoint::parse("write:self", [](std::string_view n) { return std::string(n == "self" ? "abc0" : ""); });
  REQUIRE(named);
  wire::BreakSet set;
  set.set({named->table_row(0, false)});
  CHECK(set.match(v) == 1);
  v.storages = {0xabc8};
  CHECK(set.match(v) == 0);
  // A node's run is known when it begins.
  v.kind = wire::HopKind::kBackwardNode, v.phase = Phase::kBefore, v.op_id = 0;
  CHECK(hits("node:Addmm*", v));
  v.phase = Phase::kAfter;
  CHECK_FALSE(hits("node:Addmm*", v));
}

TEST_CASE("fields of arguments: one tensor has all of them, a negated one no tensor", "[live]") {
  const int64_t two_three[] = {2, 3}, three[] = {3};
  FakeView v;
  v.op_id = 7;
  CHECK_FALSE(hits("dtype:float32", v));
  CHECK(hits("-dtype:float32", v));
  v.tensors = {{"float32", "cuda", 1, two_three, true, true}, {"int64", "cpu", -1, three}, {"float16", "meta", -1, {}, false}};
  for (const char* text : {"dtype:float32", "dtype:f32", "dtype:torch.float32", "dtype:float64,int64", "dtype:float*", "shape:[2,3]", "shape:[*,3]", "shape:[2,*]", "shape:[3]",
                           "shape:[ 2, 3 ]", "shape:[2, 3] add", "shape:[9],[2,3]", "device:cuda", "device:cuda:1", "device:c*", "device:meta", "requires_grad:on", "requires_grad:off",
                           "dtype:float32 shape:[2,3] device:cuda:1 requires_grad:on", "add -dtype:float64", "dtype:float32 -shape:[3,2]"}) {
    INFO(text);
    CHECK(hits(text, v));
  }
  for (const char* text : {"dtype:float64", "dtype:int32", "shape:[2]", "shape:[*]  dtype:float32", "shape:[2,3,1]", "shape:[]", "shape:[*,*,*]", "device:cuda:0", "device:cuda:*  dtype:int64", "dtype:float32 shape:[3]",
                           "dtype:int64 requires_grad:on", "dtype:float16 shape:[*]", "-dtype:float32", "-requires_grad:on", "mul dtype:float32"}) {
    INFO(text);
    CHECK_FALSE(hits(text, v));
  }
  v.tensors = {{"float32", "cpu", -1, {}}};  // a tensor of no dimension
  CHECK(hits("shape:[]", v));
  CHECK_FALSE(hits("shape:[*]", v));
}

TEST_CASE("a stop after the kernel means the arguments as they were before it", "[live]") {
  const int64_t three[] = {3};
  wire::BreakSet set;
  set.set({Breakpoint::parse("error: dtype:float32")->table_row(2, false), Breakpoint::parse("node: shape:[3]")->table_row(5, false), Breakpoint::parse("error:")->table_row(6, false)});
  FakeView v;
  v.op_id = 7;
  v.tensors = {{"float32", "cpu", -1, three}};
  CHECK(set.match(v) == 0);
  FakeView inner = v;  // one hop deeper, with other arguments
  inner.depth = 1, inner.tensors = {{"int64", "cpu", -1, three}};
  CHECK(set.match(inner) == 0);
  inner.tensors.clear(), v.tensors.clear();  // what is left of them is the kernel's
  inner.phase = v.phase = Phase::kAfter, inner.raised = v.raised = true;
  inner.made = {"MmBackward0"};
  CHECK(set.match(inner) == (1ull << 5 | 1ull << 6));
  CHECK(set.match(v) == (1ull << 2 | 1ull << 6));
  // A hop that was begun before the breakpoint was set: its arguments were not looked at.
  set.set({Breakpoint::parse("error: dtype:float32")->table_row(2, false)});
  CHECK(set.match(v) == 0);
}

TEST_CASE("a line stops once a visit", "[live]") {
  wire::BreakSet set;
  set.set({Breakpoint::parse("line:14")->table_row(0, false)});
  FakeView v;
  v.line = 14;
  const auto stops = [&](uint64_t instruction, uint32_t depth, int line = 14, uint64_t frame = 1) {
    v.instruction = instruction, v.depth = depth, v.line = line, v.frame = frame;
    return set.match(v) != 0;
  };
  CHECK(stops(10, 0));         // x = a @ b + c: the first operator
  CHECK_FALSE(stops(10, 1));   // what it calls
  CHECK_FALSE(stops(10, 1));
  CHECK_FALSE(stops(12, 0));   // the second operator of the line
  CHECK_FALSE(stops(20, 0, 15));
  CHECK(stops(10, 0));         // the loop comes round
  CHECK_FALSE(stops(12, 0));
  CHECK(stops(10, 0, 14, 2));  // another call of the function
  // With an operator named, each of its hops counts.
  set.set({Breakpoint::parse("add line:14")->table_row(0, false)});
  v.op_id = 1;
  CHECK(stops(10, 0));
  CHECK(stops(10, 1));
}

TEST_CASE("the table survives the way, and nothing that is cut or wild hurts its reader", "[live]") {
  const std::vector<Break> all{Breakpoint::parse("op:add,mul -key:CPU hit:3")->table_row(0, false), Breakpoint::parse("line:train.py:14")->table_row(63, true),
                               Breakpoint::parse("error:")->table_row(7, false)};
  std::vector<uint8_t> bytes;
  REQUIRE(std::string(wire::write_breaks(all, &bytes)) == "");
  const auto back = wire::read_breaks(bytes);
  REQUIRE(back.size() == 3);
  CHECK(back[0].first_hit == 3);
  CHECK(back[0].terms[0].patterns == std::vector<std::string>{"add", "mul"});
  CHECK(back[0].terms[1].negated);
  CHECK((back[1].flags & (wire::kOnce | wire::kPerVisit)) == (wire::kOnce | wire::kPerVisit));
  CHECK(back[1].slot == 63);
  CHECK(back[2].after());
  for (size_t n = 0; n < bytes.size(); ++n) CHECK(wire::read_breaks(std::span(bytes).first(n)).size() < 3);
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::vector<uint8_t> broken = bytes;
    broken[n] ^= 0xff;
    wire::BreakSet set;
    set.set(wire::read_breaks(broken));
    FakeView v;
    v.op_id = 1;
    set.match(v);
  }
}

TEST_CASE("more than 64 breakpoints are refused", "[live]") {
  LiveControl live;
  for (int i = 0; i < 64; ++i) REQUIRE(live.add(*Breakpoint::parse("op" + std::to_string(i))));
  CHECK_FALSE(live.add(*Breakpoint::parse("one_more")));
  CHECK(live.remove(3));
  CHECK_FALSE(live.remove(3));
  CHECK(live.add(*Breakpoint::parse("one_more")));
}

TEST_CASE("breakpoints find recorded hops", "[live]") {
  MadeSession made;
  const uint32_t add = made.op("aten::add", "Tensor"), mm = made.op("aten::mm");
  const uint32_t off = made.tls(kIncludedDefault, kExcludedDefault, false);
  made.hop({.op = add, .key = "AutogradCPU", .keyset = kCpuTensor});
  made.hop({.parent = 1, .op = add, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001});
  made.hop({.op = mm, .key = "AutogradCPU", .keyset = kCpuTensor, .tls = off});
  made.hop({.op = mm, .key = "CPU", .keyset = 0x10001, .flags = kRaised});
  const auto session = made.open();
  const auto found = [&](const char* text) {
    std::vector<uint32_t> out;
    for (const EventId e : Breakpoint::parse(text)->matches(*session)) out.push_back(e.value);
    return out;
  };
  using Ids = std::vector<uint32_t>;
  CHECK(found("op:mm") == Ids{3, 4});
  CHECK(found("has:AutogradCPU") == Ids{1, 3});
  CHECK(found("grad:off") == Ids{3});
  CHECK(found("mm -grad:off") == Ids{4});
  CHECK(found("finding:") == Ids{4});
  CHECK(found("write:").empty());
}

TEST_CASE("breakpoints on arguments find recorded hops", "[live]") {
  MadeSession made;
  const uint32_t mm = made.op("aten::mm", "", {{"self", 0}, {"mat2", 0}});
  made.sql("INSERT INTO string VALUES(900,'float32'),(901,'[2, 3]'),(902,'cpu'),(903,'requires_grad leaf'),(904,'float64'),(905,'[]'),(906,'cuda:1'),(907,'wrapped_number');"
           "INSERT INTO tensor_meta(id, dtype, shape, device, flags) VALUES(1,900,901,902,903),(2,900,901,906,NULL),(3,904,905,902,907)");
  for (int i = 0; i < 3; ++i) made.hop({.op = mm, .key = "CPU", .keyset = kCpuTensor});
  made.sql("INSERT INTO argument(event, position, list_index, tensor, meta) VALUES(1,0,-1,5,1),(1,1,-1,6,3),(2,0,-1,7,2)");
  const auto session = made.open();
  const auto found = [&](const char* text) {
    std::vector<uint32_t> out;
    for (const EventId e : Breakpoint::parse(text)->matches(*session)) out.push_back(e.value);
    return out;
  };
  using Ids = std::vector<uint32_t>;
  CHECK(found("dtype:float32") == Ids{1, 2});
  CHECK(found("dtype:float32 device:cpu") == Ids{1});
  CHECK(found("shape:[2,*] device:cuda") == Ids{2});
  CHECK(found("requires_grad:on") == Ids{1});
  CHECK(found("requires_grad:off") == Ids{2});
  CHECK(found("dtype:float64").empty());  // a number that was wrapped
  CHECK(found("-shape:[2,3]") == Ids{3});
}
