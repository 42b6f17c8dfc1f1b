// What would change: tables, masks and sets by PyTorch's rules on a made session; the rules against memberships measured on 2.13.0.
// tests/conformance/whatif.py holds predictions against changes that were really made.
#include "sessions/whatif.h"

#include "sessions/op_report.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;
using core::Alias;

namespace {

/// add.Tensor twice: outermost with its redispatch, and on inference tensors.
struct AddTwice {
  MadeSession m;
  uint32_t op, autograd, cpu;
  AddTwice() {
    op = m.op("aten::add", "Tensor", {{"self", 2}, {"other", 2}});
    autograd = m.kernel(op, "Autograd", "autograd kernel", "registered at /x/VariableType_2.cpp:6900");
    cpu = m.kernel(op, "CPU", "kernel", "registered at /x/RegisterCPU_0.cpp:1297");
    const uint32_t fall = m.kernel(0, "AutocastCPU", "backend fallback", "registered at /x/autocast_mode.cpp:1", true);
    registered(op, "CPU", cpu);
    registered(op, "Autograd", autograd);
    registered(0, "AutocastCPU", fall);
    for (const char* k : {"AutogradCPU", "AutogradCUDA"}) m.slot(op, k, autograd);
    m.slot(op, "CPU", cpu);
    m.slot(op, "AutocastCPU", fall);
    m.mask(op, kAddMask);
    const uint32_t call = m.hop({.op = op, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .kernel = autograd});
    m.hop({.parent = call, .op = op, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .kernel = cpu});
    m.argument(call, 0, 7, kCpuTensor);
    m.hop({.op = op, .key = "CPU", .keyset = 0x10001, .arg_keyset = kCpuInferenceTensor, .kernel = cpu});
  }
  void registered(uint32_t of, const char* key, uint32_t kernel) {
    m.sql("INSERT INTO registration VALUES(" + (of ? std::to_string(of) : "NULL") + "," + std::to_string(m.key_number(key)) + ",0," + std::to_string(kernel) + ",0)");
  }
};

WhatIfAnswer ask(const Session& s, const std::vector<std::string>& words) {
  const auto question = parse_whatif(s, words);
  INFO((question ? "" : question.error()));
  REQUIRE(question);
  return what_if(s, *question);
}
/// "1 changes AutogradCPU>CPU; 2 layer ..."
std::string brief(const Session& s, const WhatIfAnswer& a) {
  std::string out;
  for (const WhatIfRow& r : a.rows) {
    out += (out.empty() ? "" : "; ") + std::to_string(r.event.value) + " " + outcome_name(r.outcome);
    if (r.outcome != WhatIfRow::Outcome::kUnknown) out += " " + s.key(r.key_before)->name + ">" + s.key(r.key_after)->name + " " + r.kernel_after;
  }
  return out;
}

}  // namespace

TEST_CASE("what if: keys and modes move the set of a call", "[sessions][whatif]") {
  AddTwice a;
  const auto s = a.m.open();
  CHECK(brief(*s, ask(*s, {"exclude", "AutogradCPU"})) == "1 changes AutogradCPU>CPU kernel, RegisterCPU_0.cpp:1297");
  CHECK(brief(*s, ask(*s, {"enter", "inference_mode"})) == "1 changes AutogradCPU>CPU kernel, RegisterCPU_0.cpp:1297");
  CHECK(brief(*s, ask(*s, {"enter", "inference_mode", "hop", "3"})).empty());
  CHECK(brief(*s, ask(*s, {"exclude", "AutogradCPU", "from", "2"})).empty());
  // Autocast's key falls through for this operator: it is in no set, on or off.
  CHECK(brief(*s, ask(*s, {"enter", "autocast:cpu"})).empty());
  const WhatIfAnswer grad = ask(*s, {"enter", "no_grad"});
  CHECK(grad.rows.empty());
  REQUIRE(grad.remarks.size() == 1);
  CHECK(grad.calls == 2);
}

TEST_CASE("what if: registrations move slots and masks", "[sessions][whatif]") {
  AddTwice a;
  const auto s = a.m.open();
  CHECK(brief(*s, ask(*s, {"register", "aten::add.Tensor@CPU"})) == "2 layer CPU>CPU the new kernel at CPU; 3 changes CPU>CPU the new kernel at CPU");
  CHECK(brief(*s, ask(*s, {"register", "add.Tensor@AutogradCPU"})) == "1 changes AutogradCPU>AutogradCPU the new kernel at AutogradCPU");
  CHECK(brief(*s, ask(*s, {"fallthrough", "add.Tensor@AutogradCPU"})) == "1 changes AutogradCPU>CPU kernel, RegisterCPU_0.cpp:1297");
  CHECK(brief(*s, ask(*s, {"remove", "add.Tensor@CPU"})) == "2 raises CPU>CPU no kernel; 3 raises CPU>CPU no kernel");
  CHECK(brief(*s, ask(*s, {"register", "add.Tensor@CompositeExplicitAutograd"})).empty());  // CPU's own kernel comes first
  CHECK(brief(*s, ask(*s, {"remove", "add.Tensor@CPU", "register", "add.Tensor@CompositeExplicitAutograd"})) ==
        "2 layer CPU>CPU the new kernel at CompositeExplicitAutograd; 3 changes CPU>CPU the new kernel at CompositeExplicitAutograd");
  CHECK(brief(*s, ask(*s, {"register", "add.Tensor@AutocastCPU", "enter", "autocast:cpu"})) ==
        "1 changes AutogradCPU>AutocastCPU the new kernel at AutocastCPU; 3 changes CPU>AutocastCPU the new kernel at AutocastCPU");
  // A key that the operator falls through gets a kernel: the redispatch meets it.
  CHECK(brief(*s, ask(*s, {"register", "add.Tensor@ADInplaceOrView"})) ==
        "2 layer CPU>ADInplaceOrView the new kernel at ADInplaceOrView; 3 changes CPU>ADInplaceOrView the new kernel at ADInplaceOrView");
  const WhatIfAnswer raises = ask(*s, {"remove", "add.Tensor@CPU"});
  CHECK(whatif_sentence(raises) == "2 of 2 calls would go elsewhere first.");
  REQUIRE(raises.remarks.size() == 1);
}

TEST_CASE("what if: beyond a change stands unknown", "[sessions][whatif]") {
  AddTwice a;
  const uint32_t outer = a.m.hop({.op = a.op, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .kernel = a.autograd});
  const uint32_t inner = a.m.hop({.parent = outer, .op = a.op, .key = "CPU", .keyset = 0x10001, .arg_keyset = kCpuInferenceTensor, .kernel = a.cpu});
  const auto s = a.m.open();
  const WhatIfAnswer w = ask(*s, {"exclude", "AutogradCPU", "hop", std::to_string(outer)});
  CHECK(brief(*s, w) == "4 changes AutogradCPU>CPU kernel, RegisterCPU_0.cpp:1297; 5 unknown");
  CHECK(w.rows[1].event == EventId{inner});
  CHECK(w.rows[1].because == EventId{outer});
}

TEST_CASE("what if: questions that make no sense are told so", "[sessions][whatif]") {
  AddTwice a;
  const auto s = a.m.open();
  const auto error = [&](const std::vector<std::string>& words) {
    const auto question = parse_whatif(*s, words);
    return question ? std::string("understood") : question.error();
  };
  CHECK(error({}).starts_with("nothing to change"));
  CHECK(error({"hop", "1"}).starts_with("nothing to change"));
  CHECK(error({"register"}) == "something has to follow register");
  CHECK(error({"register", "add.Tensor"}).starts_with("add.Tensor names no key"));
  CHECK(error({"register", "aten::add@CPU"}).ends_with("there are: aten::add.Tensor"));
  CHECK(error({"register", "aten::sub@CPU"}).starts_with("no hop of this recording is of an operator aten::sub"));
  CHECK(error({"register", "add.Tensor@GPU"}).starts_with("there is no dispatch key GPU"));
  CHECK(error({"register", "*@Autograd"}).starts_with("a backend fallback stands at a runtime key"));
  CHECK(error({"exclude", "Autograd"}) == "Autograd is an alias: it is never in a set");
  CHECK(error({"enter", "autocast:toaster"}).starts_with("there is no autocast for device toaster"));
  CHECK(error({"enter", "eval"}).starts_with("there is no mode eval"));
  CHECK(error({"enter", "no_grad", "hop", "4"}) == "there is no hop 4; the recording has 3");
  CHECK(error({"enter", "no_grad", "hop", "0"}).starts_with("there is no hop 0"));
  CHECK(error({"enter", "no_grad", "hop", "1x"}).starts_with("there is no hop 1x"));
  CHECK(error({"enter", "no_grad", "from", "3", "to", "2"}) == "the last hop comes before the first");
  CHECK(error({"enter", "no_grad", "span", "1"}).starts_with("there is no span 1"));
  CHECK(error({"maybe", "x"}).starts_with("a change begins with"));
}

TEST_CASE("key families: what aliases stand for, as measured on 2.13.0", "[sessions][whatif]") {
  for (const bool layout_a : {false, true}) {
    MadeSession m(layout_a);
    const auto s = m.open();
    const KeyFamilies f(*s);
    const auto key = [&](const char* name) { return s->key_by_name(name)->id; };
    CHECK(f.includes(Alias::kAutograd, key("AutogradCPU")));
    CHECK(f.includes(Alias::kAutograd, key("AutogradOther")));
    CHECK_FALSE(f.includes(Alias::kAutograd, key("CPU")));
    CHECK_FALSE(f.includes(Alias::kAutograd, key("ADInplaceOrView")));
    for (const char* k : {"CPU", "CUDA", "Meta", "SparseCPU", "QuantizedCUDA", "MkldnnCPU", "AutogradCPU", "NestedTensorCPU"}) CHECK(f.includes(Alias::kCompositeImplicit, key(k)));
    CHECK_FALSE(f.includes(Alias::kCompositeImplicit, key("BackendSelect")));
    CHECK(f.includes(Alias::kCompositeExplicit, key("SparseCPU")));
    CHECK_FALSE(f.includes(Alias::kCompositeExplicit, key("NestedTensorCPU")));
    CHECK_FALSE(f.includes(Alias::kCompositeExplicitNonFunctional, key("SparseCPU")));
    CHECK_FALSE(f.includes(Alias::kCompositeExplicitNonFunctional, key("XLA")));
    CHECK(f.includes(Alias::kCompositeExplicitNonFunctional, key("CPU")));
    CHECK(f.autograd_of(key("SparseCPU")) == key("AutogradCPU"));
    CHECK(f.autograd_of(key("HIP")) == key("AutogradOther"));
    CHECK(f.autograd_of(key("FPGA")) == key("AutogradOther"));
    CHECK(f.autograd_of(key("AutogradCPU")) == 0);
    CHECK(f.is_behind(key("AutogradCPU"), key("CPU")));
    CHECK_FALSE(f.is_behind(key("AutogradCPU"), key("SparseCPU")));
    CHECK(f.is_behind(key("AutogradOther"), key("SparseCPU")));
    CHECK_FALSE(f.is_behind(key("AutogradMTIA"), key("MTIA")));
    CHECK(f.reached_by(key("CPU")) == std::vector<KeyId>{key("CPU"), key("AutogradCPU")});
  }
}

TEST_CASE("a missing kernel says what is there and what would have served", "[sessions][op]") {
  MadeSession m;
  const uint32_t op = m.op("mine::only");
  const uint32_t meta = m.kernel(op, "Meta", "kernel", "registered at /me/mine.py:19");
  m.slot(op, "Meta", meta);
  m.mask(op, kAddMask);
  const uint32_t failed = m.hop({.op = op, .kind = Kind::kMissingKernel, .key = "CPU", .keyset = 0x10001, .flags = kRaised});
  const auto s = m.open();
  const MissingKernel missing = missing_kernel(*s, EventId{failed});
  std::string text;
  for (const auto& [what, words] : missing_lines(*s, missing)) text += what + ": " + words + "\n";
  CHECK(text == "wanted: CPU\navailable: Meta\nnear: Meta (the same layer of another backend)\n"
                "would have been found: a kernel at CPU CompositeImplicitAutograd CompositeExplicitAutograd CompositeExplicitAutogradNonFunctional\n"
                "registered: Meta, kernel, mine.py:19\n");
}

TEST_CASE("an operator's table side by side when it changed", "[sessions][op]") {
  MadeSession m;
  const uint32_t op = m.op("mine::f");
  const uint32_t first = m.kernel(op, "CPU", "kernel", "registered at /me/a.py:1"), second = m.kernel(op, "CPU", "kernel", "registered at /me/a.py:9");
  const int cpu = m.key_number("CPU");
  for (int i = 0; i < 3; ++i) m.hop({.op = op, .key = "CPU", .keyset = 0x10001, .arg_keyset = 0x10001, .kernel = first});
  m.slot(op, "CPU", first, 1);
  m.slot(op, "Meta", first, 1);
  m.slot(op, "CPU", second, 3);
  m.slot(op, "Meta", first, 3);
  const auto put = [&](int position, uint32_t kernel, int since) {
    m.sql("INSERT INTO registration VALUES(" + std::to_string(op) + "," + std::to_string(cpu) + "," + std::to_string(position) + "," + std::to_string(kernel) + "," + std::to_string(since) + ")");
  };
  put(0, first, 1);
  put(0, second, 3);
  put(1, first, 3);
  const auto s = m.open();
  const OpReport r = op_report(*s, OpId{op});
  REQUIRE(r.versions == std::vector<EventId>{EventId{1}, EventId{3}});
  REQUIRE(r.rows.size() == 2);
  CHECK_FALSE(r.rows[0].differs);  // Meta, the higher one
  CHECK(r.rows[1].differs);
  CHECK(r.rows[1].cells[0].place == "a.py:1");
  CHECK(r.rows[1].cells[1].place == "a.py:9");
  REQUIRE(r.registered.size() == 2);
  CHECK(r.registered[0].hidden);
  CHECK(r.registered[1].later);
  CHECK(r.registered[1].since == EventId{3});
  const std::string text = op_text(*s, r);
  CHECK(text.find("table, which changed 1 time during the recording") != std::string::npos);
  CHECK(text.find("a.py:1, hidden by another at this key") != std::string::npos);
  CHECK(find_op(*s, "mine::f"));
  CHECK_FALSE(find_op(*s, "f"));
}
