// Verdicts, rows and sentences on sequences and sets measured on 2.13.0 (facts 2.3, 2.4, 3.3, 3.9; claims 42, 44, 51, 61, 106, 108).
#include <algorithm>

#include "sessions/why.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

const WhyKey* verdict(const Session& s, const Why& w, const char* key) {
  const auto it = std::find_if(w.keys.begin(), w.keys.end(), [&](const WhyKey& k) { return s.key(k.key)->name == key; });
  return it == w.keys.end() ? nullptr : &*it;
}
bool has(const std::string& text, const std::string& part) {
  INFO(text << " | wanted: " << part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}
const WhyRow* row(const Why& w, WhyRow::Op op) {
  const auto it = std::find_if(w.rows.begin(), w.rows.end(), [&](const WhyRow& r) { return r.op == op; });
  return it == w.rows.end() ? nullptr : &*it;
}
std::string onion(const Session& s, const Why& w) {
  std::string out;
  for (const OnionLayer& l : w.onion) {
    if (!out.empty()) out += ' ';
    out += s.key(l.key)->name;
    if (!l.event) out += l.verdict == Verdict::kExcluded ? "-" : l.verdict == Verdict::kFellThrough ? "~" : l.verdict == Verdict::kMasked ? "&" : l.verdict == Verdict::kBelow ? "v" : "0";
  }
  return out;
}

struct AddSession {
  MadeSession m;
  uint32_t op, add_kernel, cpu_kernel, adiov_kernel;
  explicit AddSession(bool in_place) {
    op = m.op(in_place ? "aten::add_" : "aten::add", "Tensor", {{"self", in_place ? 3u : 2u}, {"other", 2}, {"alpha", 4}});
    add_kernel = m.kernel(op, "Autograd", "autograd kernel", "registered at /pytorch/torch/csrc/autograd/generated/VariableType_2.cpp:6900");
    cpu_kernel = m.kernel(op, "CPU", "kernel", "registered at /pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:1297");
    adiov_kernel = m.kernel(op, "ADInplaceOrView", "kernel", "registered at /pytorch/ADInplaceOrViewType_0.cpp:5032");
    const uint32_t fall = m.kernel(op, "AutocastCPU", "backend fallback", "registered at /pytorch/autocast_mode.cpp:1", true);
    for (const char* k : {"AutogradCPU", "AutogradCUDA", "AutogradMeta"}) m.slot(op, k, add_kernel);
    m.slot(op, "CPU", cpu_kernel);
    m.slot(op, "Meta", cpu_kernel);
    m.slot(op, "AutocastCPU", fall);
    if (in_place) m.slot(op, "ADInplaceOrView", adiov_kernel);
    m.mask(op, in_place ? kAddInplaceMask : kAddMask);
  }
  uint32_t call(const char* key, uint64_t set, uint64_t args, uint32_t tls = 1, uint32_t parent = 0, uint32_t stack = 0) {
    return m.hop({.parent = parent, .op = op, .key = key, .keyset = set, .arg_keyset = args, .tls = tls, .stack = stack, .kernel = std::string(key) == "CPU" ? cpu_kernel : add_kernel});
  }
  uint32_t redispatch(uint32_t parent, const char* key, uint64_t set, uint32_t tls = 1) {
    return m.hop({.parent = parent, .op = op, .kind = Kind::kRedispatch, .key = key, .keyset = set, .tls = tls, .kernel = std::string(key) == "CPU" ? cpu_kernel : adiov_kernel});
  }
};

}  // namespace

TEST_CASE("why: add.Tensor with grad", "[sessions][why]") {
  AddSession a(false);
  const uint32_t line = a.m.frame("/home/me/train_step.py", 14);
  const uint32_t call = a.call("AutogradCPU", 0x1000010001, kCpuTensor, 1, 0, line);
  const uint32_t cpu = a.redispatch(call, "CPU", 0x10001);
  a.m.node(call, "AddBackward0", 12);
  a.m.argument(call, 0, 7, kCpuTensor, "", "requires_grad");
  a.m.argument(call, 1, 9, kCpuTensor);
  a.m.argument(call, 2, 0, 0, "1");
  const auto s = a.m.open();
  const Why w = why(*s, EventId{call});
  CHECK(w.explained);
  CHECK(w.call == EventId{call});
  CHECK(w.title == "aten::add.Tensor");
  CHECK(w.where == "train_step.py:14");
  CHECK(w.slot == 96);
  REQUIRE(w.rows.size() == 8);
  CHECK(w.rows[0].label == "self");
  CHECK(w.rows[0].note == "t7 f32[2,3]");
  CHECK(w.rows[0].set == kCpuTensor);
  CHECK(w.rows[2].label == "alpha");
  CHECK(w.rows[2].greyed);
  CHECK(row(w, WhyRow::Op::kUnion)->set == kCpuTensor);
  CHECK(row(w, WhyRow::Op::kIncluded)->set == kIncludedDefault);
  CHECK(row(w, WhyRow::Op::kIncluded)->note == "default");
  CHECK(row(w, WhyRow::Op::kExcluded)->set == kExcludedDefault);
  CHECK(row(w, WhyRow::Op::kExcluded)->note == "default: autocast is off");
  CHECK(row(w, WhyRow::Op::kMask)->set == (0x3fffffffffffffff & ~kAddMask));
  CHECK(row(w, WhyRow::Op::kResult)->set == 0x1000010001);

  // Highest priority first, one verdict each.
  REQUIRE(w.keys.size() == 5);
  CHECK(s->key(w.keys[0].key)->name == "AutocastCPU");
  CHECK(verdict(*s, w, "AutocastCPU")->verdict == Verdict::kExcluded);
  CHECK(verdict(*s, w, "AutocastCPU")->reason == "excluded: autocast is off (default)");
  CHECK(verdict(*s, w, "AutogradCPU")->verdict == Verdict::kRan);
  CHECK(verdict(*s, w, "ADInplaceOrView")->verdict == Verdict::kFellThrough);
  CHECK(verdict(*s, w, "BackendSelect")->verdict == Verdict::kFellThrough);
  CHECK(verdict(*s, w, "CPU")->verdict == Verdict::kRan);
  CHECK(w.never_involved == 3);  // AutogradCUDA, AutogradMeta, Meta have kernels and were not involved; a fallthrough is none
  CHECK(onion(*s, w) == "AutocastCPU- AutogradCPU ADInplaceOrView~ BackendSelect~ CPU");
  CHECK(w.onion[1].rule == "autograd kernel");
  CHECK(w.onion[1].nodes.size() == 1);
  has(w.sentence, "AutogradCPU ran first: the highest key left, as autocast is off.");
  has(w.sentence, "It made AddBackward0. The CPU kernel did the work.");

  const Why r = why(*s, EventId{cpu});
  CHECK(r.call == EventId{call});
  CHECK(r.explained);
  CHECK(row(r, WhyRow::Op::kIncoming)->set == 0x1000010001);
  CHECK(row(r, WhyRow::Op::kResult)->set == 0x10001);
  CHECK(verdict(*s, r, "AutogradCPU")->verdict == Verdict::kMasked);
  CHECK(verdict(*s, r, "AutogradCPU")->evidence == EventId{call});
  CHECK(verdict(*s, r, "ADInplaceOrView")->verdict == Verdict::kFellThrough);
  CHECK(onion(*s, r) == onion(*s, w));

  const std::string text = why_text(*s, w, false);
  has(text, "hop 1  aten::add.Tensor  call -> AutogradCPU");
  has(text, "train_step.py:14");
  has(text, "t7 f32[2,3]");
  has(text, "CPU ADInplaceOrView AutogradCPU AutocastCPU");
  has(text, "− thread excluded");
  has(text, "Autocast*");
  has(text, "(default: autocast is off)");
  has(text, "without BackendSelect ADInplaceOrView");
  has(text, "highest: AutogradCPU, slot 96: autograd kernel, registered at VariableType_2.cpp:6900");
  has(text, "ADInplaceOrView, BackendSelect fell through; 3 keys never involved");
  has(why_text(*s, w, true), "```\n");
}

TEST_CASE("why: no_grad removes no layer, only the node", "[sessions][why]") {
  AddSession a(false);
  const uint32_t no_grad = a.m.tls(kIncludedDefault, kExcludedDefault, false);
  const uint32_t call = a.call("AutogradCPU", 0x1000010001, kCpuTensor, no_grad);
  a.redispatch(call, "CPU", 0x10001, no_grad);
  const uint32_t plain = a.call("AutogradCPU", 0x1000010001, kCpuTensor);
  a.m.argument(plain, 0, 7, kCpuTensor);
  const auto s = a.m.open();
  const Why w = why(*s, EventId{call});
  CHECK(verdict(*s, w, "AutogradCPU")->verdict == Verdict::kRan);
  has(w.sentence, "Grad mode is off, so it made no node.");
  has(why(*s, EventId{plain}).sentence, "No argument requires grad, so it made no node.");
}

TEST_CASE("why: inference_mode excludes, an inference tensor lacks the key", "[sessions][why]") {
  AddSession a(true);
  const uint32_t inference = a.m.tls(kIncludedInference, kExcludedInference, false, true);
  a.call("AutogradCPU", 0x1400010001, kCpuTensor);                                                   // 1, before the mode
  a.call("ADInplaceOrView", 0x400010001, kCpuTensor, inference);                                     // 2, first under the mode
  const uint32_t in_place = a.call("ADInplaceOrView", 0x400010001, kCpuTensor, inference);           // 3
  a.redispatch(in_place, "CPU", 0x10001, inference);                                                 // 4
  const uint32_t keyless = a.call("CPU", 0x10001, kCpuInferenceTensor, inference);                   // 5
  const uint32_t outside = a.call("ADInplaceOrView", 0x400010001, kCpuInferenceTensor);              // 6, outside of the mode again
  const auto s = a.m.open();

  const Why w = why(*s, EventId{in_place});
  CHECK(w.explained);
  CHECK(verdict(*s, w, "AutogradCPU")->verdict == Verdict::kExcluded);
  CHECK(verdict(*s, w, "AutogradCPU")->reason == "excluded: inference_mode is on");
  CHECK_FALSE(verdict(*s, w, "AutogradCPU")->inferred);
  CHECK(verdict(*s, w, "AutogradCPU")->evidence == EventId{2});
  has(w.sentence, "inference_mode excludes AutogradCPU");
  CHECK(row(w, WhyRow::Op::kIncluded)->note == "inference_mode: without ADInplaceOrView");
  CHECK(onion(*s, w) == "AutocastCPU- AutogradCPU- ADInplaceOrView BackendSelect~ CPU");

  const Why k = why(*s, EventId{keyless});
  CHECK(k.explained);
  CHECK(verdict(*s, k, "AutogradCPU") == nullptr);  // nowhere: not involved
  CHECK(why_not(*s, EventId{keyless}, s->key_by_name("AutogradCPU")->id).verdict == Verdict::kNotInSet);
  has(why_not(*s, EventId{keyless}, s->key_by_name("AutogradCPU")->id).sentence, "inference tensors");
  has(why_not(*s, EventId{keyless}, s->key_by_name("ADInplaceOrView")->id).sentence, "inference_mode took it out of the included keys");

  const Why o = why(*s, EventId{outside});
  CHECK(o.explained);
  CHECK(verdict(*s, o, "ADInplaceOrView")->verdict == Verdict::kRan);
  has(o.sentence, "ADInplaceOrView ran");
}

TEST_CASE("why: guards of C++ are inferred and say where", "[sessions][why]") {
  // mm's CPU kernel runs under AutoDispatchBelowADInplaceOrView, which mm's autograd kernel set: inner calls show {CPU}.
  MadeSession m;
  const uint32_t mm = m.op("aten::mm"), resolve = m.op("aten::resolve_conj");
  const uint32_t below = m.tls(kIncludedDefault, kExcludedBelowAdiov);
  m.hop({.op = mm, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor});
  m.hop({.parent = 1, .op = mm, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .tls = below});
  m.hop({.parent = 2, .op = resolve, .key = "CPU", .keyset = 0x10001, .arg_keyset = kCpuTensor, .tls = below});
  m.mask(mm, ~(uint64_t{1} << 26 | uint64_t{1} << 34));
  m.mask(resolve, ~(uint64_t{1} << 26));
  const auto s = m.open();
  const Why w = why(*s, EventId{3});
  CHECK(w.explained);
  const WhyKey* autograd = verdict(*s, w, "AutogradCPU");
  REQUIRE(autograd);
  CHECK(autograd->verdict == Verdict::kExcluded);
  CHECK(autograd->inferred);
  CHECK(autograd->evidence == EventId{1});
  CHECK(autograd->reason == "excluded: guard AutoDispatchBelowADInplaceOrView in mm at AutogradCPU, hop 1");
  CHECK(verdict(*s, w, "ADInplaceOrView")->verdict == Verdict::kExcluded);
  CHECK(check_key_sets(*s).calls == 2);
  CHECK(check_key_sets(*s).explained == 2);
}

TEST_CASE("why: a composite kernel calls others and nodes are made inside", "[sessions][why]") {
  MadeSession m;
  const uint32_t linear = m.op("aten::linear"), t = m.op("aten::t"), matmul = m.op("aten::matmul");
  const uint32_t composite = m.kernel(linear, "CompositeImplicitAutograd", "math kernel");
  m.mask(linear, kAddMask);
  m.hop({.op = linear, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .kernel = composite});
  m.hop({.parent = 1, .op = t, .key = "AutogradCPU", .keyset = 0x1400010001, .arg_keyset = kCpuTensor});
  m.hop({.parent = 1, .op = matmul, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor});
  m.node(2, "TBackward0", 0);
  m.node(3, "MmBackward0", 1);
  const auto s = m.open();
  const Why w = why(*s, EventId{1});
  REQUIRE(w.onion.size() >= 2);
  const auto layer = std::find_if(w.onion.begin(), w.onion.end(), [](const OnionLayer& l) { return bool(l.event); });
  CHECK(layer->composite);
  CHECK(layer->nodes.empty());
  CHECK(layer->nodes_inside == 2);
  CHECK(layer->inner_calls.size() == 2);
  CHECK(verdict(*s, w, "CPU")->verdict == Verdict::kBelow);
  has(verdict(*s, w, "CPU")->reason, "composite");
  has(w.sentence, "Its kernel is composite: it only calls other operators (t and matmul), and 2 nodes were made inside.");
}

TEST_CASE("why: autocast calls the operator again", "[sessions][why]") {
  MadeSession m;
  const uint32_t linear = m.op("aten::linear"), to = m.op("aten::to", "dtype");
  const uint64_t cast_bit = uint64_t{1} << 39;
  const uint32_t on = m.tls(kIncludedDefault, kExcludedDefault & ~cast_bit, true, false, "autocast cpu BFloat16"), inside = m.tls(kIncludedDefault, kExcludedDefault);
  const uint64_t mask = ~(uint64_t{1} << 26 | uint64_t{1} << 34);
  m.mask(linear, mask);
  m.hop({.op = linear, .key = "AutocastCPU", .keyset = kCpuTensor & mask, .arg_keyset = kCpuTensor, .tls = on});
  m.hop({.parent = 1, .op = to, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .tls = inside});
  m.hop({.parent = 1, .op = linear, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .tls = inside});
  const auto s = m.open();
  const Why w = why(*s, EventId{3});
  CHECK(w.call == EventId{1});
  CHECK(w.explained);
  const WhyKey* cast = verdict(*s, w, "AutocastCPU");
  REQUIRE(cast);
  CHECK(cast->verdict == Verdict::kExcluded);
  CHECK(cast->reason == "excluded: the AutocastCPU kernel above (hop 1) keeps itself out while it calls on");
  CHECK(cast->evidence == EventId{1});
  const Why outer = why(*s, EventId{1});
  CHECK(outer.explained);
  has(outer.sentence, "AutocastCPU ran first");
  has(outer.sentence, "It made 1 cast and called linear again.");
  CHECK(onion(*s, outer).find("AutocastCPU AutogradCPU") == 0);
}

TEST_CASE("why: BackendSelect goes on with a set of its own", "[sessions][why]") {
  MadeSession m;
  const uint32_t empty = m.op("aten::empty", "memory_format");
  const uint32_t guard = m.tls(kIncludedDefault, kExcludedBelowAdiov);
  m.hop({.op = empty, .key = "BackendSelect", .keyset = 0x4000000, .arg_keyset = 0, .tls = guard});
  m.hop({.parent = 1, .op = empty, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .tls = guard});
  const auto s = m.open();
  const Why w = why(*s, EventId{1}), r = why(*s, EventId{2});
  CHECK(w.explained);
  CHECK(r.explained);
  CHECK(verdict(*s, w, "CPU")->verdict == Verdict::kRan);
  has(r.sentence, "BackendSelect");
}

TEST_CASE("why: a failed look-up says what was wanted and what there is", "[sessions][why]") {
  MadeSession m;
  const uint32_t op = m.op("peel_demo::scale");
  const uint32_t cpu = m.kernel(op, "CPU", "kernel");
  m.slot(op, "CPU", cpu);
  m.slot(op, "SparseCUDA", cpu);
  m.hop({.op = op, .kind = Kind::kMissingKernel, .key = "CUDA", .flags = kRaised});
  m.sql("INSERT INTO error VALUES(1, 'NotImplementedError', 'Could not run')");
  const auto s = m.open();
  const Why w = why(*s, EventId{1});
  CHECK(w.slot == 2);
  CHECK(w.error == "NotImplementedError: Could not run");
  has(w.sentence, "peel_demo::scale has no kernel for CUDA");
  has(w.sentence, "does not try the next");
  has(w.sentence, "CPU");
  has(w.sentence, "Near: SparseCUDA");
  has(why_text(*s, w, false), "slot 2: no kernel");
  REQUIRE(verdict(*s, w, "CUDA"));
  CHECK(verdict(*s, w, "CUDA")->verdict == Verdict::kBelow);
}

TEST_CASE("why: what the formula does not give is said", "[sessions][why]") {
  AddSession a(false);
  a.call("AutogradCPU", 0x1000010001, kCpuTensor);
  const uint32_t odd = a.call("AutogradCPU", 0x1000010001 | uint64_t{1} << 28, kCpuTensor);  // Python, which nothing brought
  const auto s = a.m.open();
  CHECK_FALSE(why(*s, EventId{odd}).explained);
  const Explained e = check_key_sets(*s);
  CHECK(e.calls == 2);
  CHECK(e.explained == 1);
  CHECK(e.first_unexplained == EventId{odd});
  has(why_text(*s, why(*s, EventId{odd}), false), "not explained");
}

TEST_CASE("why: every kind of hop and every nonsense has an answer", "[sessions][why]") {
  MadeSession m;
  const uint32_t op = m.op("aten::mul", "Tensor");
  for (const Kind k : {Kind::kPythonMode, Kind::kTorchFunction, Kind::kBackwardNode, Kind::kMissingKernel, Kind::kRedispatch, Kind::kCall}) {
    m.hop({.op = k == Kind::kBackwardNode ? 0 : op, .kind = k, .end = -1});
  }
  m.hop({.parent = 6, .op = 99, .kind = Kind::kCall, .tls = 77, .stack = 12345, .kernel = 99});
  const auto s = m.open();
  for (uint32_t i = 0; i <= 9; ++i) {
    const Why w = why(*s, EventId{i});
    CHECK_FALSE(w.sentence.empty());
    CHECK_FALSE(why_text(*s, w, true).empty());
    for (const Key* k : s->keys()) CHECK_FALSE(why_not(*s, EventId{i}, k->id).sentence.empty());
  }
  CHECK(std::string(key_gloss("AutogradCPU")) == "records the backward graph");
  CHECK(std::string(key_gloss("NoSuchKey")) == "");
  for (const Key* k : s->keys()) {
    INFO(k->name);
    CHECK(*key_gloss(k->name) != 0);
  }
}

TEST_CASE("why: a mode that Python entered is named with its line", "[sessions][why]") {
  AddSession a(false);
  const uint32_t inference = a.m.tls(kIncludedInference, kExcludedInference, false, true);
  const uint32_t line = a.m.frame("/home/me/gm.py", 2), later = a.m.frame("/home/me/gm.py", 3);
  a.m.sql("INSERT INTO source VALUES('/home/me/gm.py', 'import torch' || char(10) || '    with torch.inference_mode():' || char(10) || '        y = x + x')");
  const uint32_t before = a.call("AutogradCPU", 0x1000010001, kCpuTensor);
  const uint32_t first = a.call("CPU", 0x10001, kCpuTensor, inference, 0, later), second = a.call("CPU", 0x10001, kCpuTensor, inference, 0, later);
  a.m.sql("INSERT INTO span VALUES(1,'mode','inference_mode',NULL,1," + std::to_string(first) + "," + std::to_string(second) + ",NULL,0,9," + std::to_string(line) + ",2)");
  // One that has ended, and one of another family around it all.
  a.m.sql("INSERT INTO span VALUES(2,'mode','grad mode off',NULL,1," + std::to_string(before) + ",NULL,NULL,0,NULL," + std::to_string(line) + ",1)");
  const auto s = a.m.open();
  REQUIRE(s->modes_at(EventId{second}).size() == 2);
  CHECK(s->modes_at(EventId{second})[0].name == "inference_mode");
  CHECK(s->modes_at(EventId{before}).size() == 1);
  const Why w = why(*s, EventId{second});
  const WhyKey* k = verdict(*s, w, "AutogradCPU");
  REQUIRE(k);
  CHECK(k->reason == "excluded: inference_mode is on");
  CHECK(k->detail == "gm.py:2 `with torch.inference_mode():`, since hop " + std::to_string(first));
  CHECK(k->evidence == EventId{first});
  CHECK(k->place == StackId{line});
  CHECK_FALSE(k->inferred);
  has(w.sentence, "inference_mode (gm.py:2) excludes AutogradCPU");
}
