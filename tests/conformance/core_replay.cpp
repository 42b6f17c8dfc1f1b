// Does to the embedded dispatcher what it is told on standard input, one command a line with fields between tabs, and
// answers in lines; "." ends an answer. How the Python tests here hold it against stock.
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include "core/dispatch/error.h"
#include "core/dispatch/key_sets.h"
#include "core/dispatch/library.h"
#include "core/dispatch/modes.h"

using namespace peel::core;

namespace {

using Fields = std::vector<std::string>;

Fields split(const std::string& line) {
  Fields out;
  std::string field;
  std::istringstream in(line);
  while (std::getline(in, field, '\t')) out.push_back(field);
  return out;
}

std::string unescaped(std::string s) {
  for (size_t at; (at = s.find('\x1f')) != std::string::npos;) s[at] = '\n';
  return s;
}

void hex(const std::string& what, DispatchKeySet s) { std::cout << what << ' ' << std::hex << "0x" << s.raw() << std::dec << '\n'; }

DispatchKey key(const std::string& name) {
  const auto k = parse_dispatch_key(name);
  if (!k) throw Error("no key " + name);
  return *k;
}

KernelFunction kernel(const std::string& words, const std::string& inferred) {
  KernelFunction f;
  if (words.find("fallthrough") != std::string::npos) return KernelFunction::fallthrough();
  f.boxed = [](OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*) {};
  if (words.find("unboxed") != std::string::npos) f.unboxed = reinterpret_cast<void*>(f.boxed);
  if (!inferred.empty() && inferred != "(none)") f.inferred = std::make_shared<FunctionSchema>(parse_schema("inferred" + inferred));
  return f;
}

/// Each way to break one rule: its name and the rules that result.
struct Mutation {
  std::string name;
  std::vector<PrecedenceRule> rules;
};
std::vector<Mutation> mutations() {
  const std::vector<PrecedenceRule> good(precedence_rules().begin(), precedence_rules().end());
  std::vector<Mutation> out;
  for (size_t i = 0; i < good.size(); ++i) {
    const std::string which = "rule " + std::to_string(i + 1) + " (" + to_string(good[i].provenance) + "): ";
    const auto add = [&](const std::string& what, const std::function<void(std::vector<PrecedenceRule>&)>& change) {
      out.push_back({which + what, good});
      change(out.back().rules);
    };
    add("left out", [i](auto& r) { r.erase(r.begin() + static_cast<ptrdiff_t>(i)); });
    add("another provenance", [i](auto& r) { r[i].provenance = Provenance::kMissing; });
    if (good[i].alias != Alias::kNone) {
      add("wrong alias", [i](auto& r) { r[i].alias = r[i].alias == Alias::kAutograd ? Alias::kCompositeExplicit : Alias::kAutograd; });
    }
    if (good[i].from == PrecedenceRule::From::kAlias) add("for Undefined or not", [i](auto& r) { r[i].undefined_too = !r[i].undefined_too; });
    if (good[i].only_autograd_other) add("not only for AutogradOther", [i](auto& r) { r[i].only_autograd_other = false; });
    if (good[i].if_backend_kernel) add("without its backend kernel", [i](auto& r) { r[i].if_backend_kernel = false; });
    if (good[i].unless_backend_kernel) add("in spite of a backend kernel", [i](auto& r) { r[i].unless_backend_kernel = false; });
    if (good[i].unless_explicit) add("in spite of CompositeExplicitAutograd", [i](auto& r) { r[i].unless_explicit = false; });
    if (good[i].from == PrecedenceRule::From::kErrorKernel) add("no error kernel", [i](auto& r) { r[i].from = PrecedenceRule::From::kAlias; });
    if (i + 1 < good.size())
      add("last", [i](auto& r) { std::rotate(r.begin() + static_cast<ptrdiff_t>(i), r.begin() + static_cast<ptrdiff_t>(i) + 1, r.end()); });
    if (i > 0)
      add("first",
          [i](auto& r) { std::rotate(r.begin(), r.begin() + static_cast<ptrdiff_t>(i), r.begin() + static_cast<ptrdiff_t>(i) + 1); });
  }
  return out;
}

class Replay {
 public:
  void run(const std::string& line) {
    const Fields f = split(line);
    const std::string& what = f.at(0);
    if (what == "def") {
      const std::string& kind = f.at(4);
      const AliasAnalysis analysis = kind == "PURE_FUNCTION" ? AliasAnalysis::kPureFunction : kind == "CONSERVATIVE" ? AliasAnalysis::kConservative
                                     : kind == "CONSERVATIVE (default)" ? AliasAnalysis::kDefault : AliasAnalysis::kFromSchema;
      made_[f.at(1)] = d_.register_schema(parse_schema(f.at(2)), f.at(3), analysis);
    } else if (what == "impl") {
      made_[f.at(1)] = d_.register_kernel(OperatorName::parse(f.at(2)), key(f.at(3)), kernel(f.at(4), f.at(6)), f.at(5));
    } else if (what == "fallback") {
      made_[f.at(1)] = d_.register_fallback(key(f.at(2)), kernel(f.at(3), {}), f.at(4));
    } else if (what == "remove") {
      made_.erase(f.at(1));
    } else if (what == "library") {  // id, kind, namespace, key, file, line
      const auto kind = f.at(2) == "DEF" ? Library::Kind::kDef : f[2] == "IMPL" ? Library::Kind::kImpl : Library::Kind::kFragment;
      const auto at = f.at(4).empty() ? std::nullopt : std::optional(key(f[4]));
      libraries_.insert_or_assign(f.at(1), std::make_unique<Library>(kind, f.at(3), at, f.at(5).c_str(), std::stoi(f.at(6)), d_));
    } else if (what == "library.def") {
      libraries_.at(f.at(1))->def(f.at(2));
    } else if (what == "library.impl") {
      libraries_.at(f.at(1))->impl(f.at(2), kernel("boxed", {}), f.at(3).empty() ? std::nullopt : std::optional(key(f[3])));
    } else if (what == "library.fallback") {
      libraries_.at(f.at(1))->fallback(kernel("boxed", {}));
    } else if (what == "find") {
      std::cout << d_.find_schema_or_throw(f.at(1), f.size() > 2 ? f[2] : "").schema().text() << '\n';
    } else if (what == "redispatch") {
      Stack stack{TensorHandle()};
      OperatorHandle(&entry(f.at(1))).redispatch_boxed(key(f.at(2)), &stack);
    } else if (what == "dump") {
      const OperatorEntry& e = entry(f.at(1));
      std::cout << d_.dump(e) << d_.dump_table(e);
    } else if (what == "expect") {  // operator, dump, table: as stock printed them
      expected_[f.at(1)] = {unescaped(f.at(2)), f.size() > 3 ? unescaped(f.at(3)) : ""};
    } else if (what == "check") {
      check();
    } else if (what == "mutations") {
      for (const Mutation& m : mutations()) std::cout << m.name << '\t' << differing(m.rules, nullptr) << '\n';
    } else if (what == "schema") {
      std::cout << parse_schema(f.size() > 1 ? unescaped(f[1]) : "").text() << '\n';
    } else if (what == "stored") {
      stored(f.at(1));
    } else if (what == "effective") {  // operator, keys of a tensor (0: undefined), included, excluded
      const auto word = [&](size_t i) { return DispatchKeySet::from_raw(std::stoull(f.at(i), nullptr, 16)); };
      const ForceKeys guard({word(3), word(4)});
      hex("set", entry(f.at(1)).effective(word(2).empty() ? TensorHandle().keys() : word(2)));
    } else if (what == "keys") {
      keys();
    } else if (what == "modes") {
      modes();
    } else {
      throw Error("no command " + what);
    }
  }

 private:
  struct Expected {
    std::string dump, table;
  };

  const OperatorEntry& entry(const std::string& name) const {
    const auto op = d_.find(OperatorName::parse(name));
    if (!op) throw Error("no operator " + name);
    return op->entry();
  }

  // Lines of tables that differ from the expected ones.
  size_t differing(std::span<const PrecedenceRule> rules, size_t* lines) const {
    size_t out = 0;
    for (const auto& [name, e] : expected_) {
      std::istringstream ours(d_.dump_table(entry(name), rules)), theirs(e.table);
      std::string a, b;
      while (true) {
        const bool more_a = static_cast<bool>(std::getline(ours, a)), more_b = static_cast<bool>(std::getline(theirs, b));
        if (!more_a && !more_b) break;
        if (lines) ++*lines;
        if (more_a == more_b && a == b) continue;
        if (lines && ++out <= 20) std::cout << "! " << name << ": ours " << (more_a ? a : "ends") << ", stock's " << (more_b ? b : "ends") << '\n';
        if (!lines) ++out;
      }
    }
    return out;
  }

  void check() const {
    size_t lines = 0, dumps = 0;
    const size_t differ = differing(precedence_rules(), &lines);
    for (const auto& [name, e] : expected_) {
      if (const std::string ours = d_.dump(entry(name)); ours != e.dump && ++dumps <= 5) std::cout << "! ours:\n" << ours << "! stock's:\n" << e.dump;
    }
    std::cout << "operators " << expected_.size() << "\nlines " << lines << "\ndiffering " << differ << "\ndumps_differing " << dumps << '\n';
  }

  void stored(const std::string& name) const {
    const OperatorEntry& e = entry(name);
    const auto slot = [&](DispatchKey k) {
      const Kernel* kernel = e.slot(slot_of(k));
      if (kernel->function.valid()) std::cout << to_string(k) << '=' << (kernel->function.is_fallthrough() ? "fallthrough" : kernel->debug) << '\n';
    };
    slot(DispatchKey::Undefined);
    for (const DispatchKey k : DispatchKeySet::full()) slot(k);
    hex("mask", e.masks().all());
    for (int b = 0; b < kBackends; ++b) hex("mask " + std::to_string(b), e.masks().for_backend(b));
    std::cout << "per_backend " << e.masks().per_backend_needed() << '\n';
  }

  static void keys();
  static void modes();

  Dispatcher d_;
  std::map<std::string, Registration> made_;
  std::map<std::string, std::unique_ptr<Library>> libraries_;
  std::map<std::string, Expected> expected_;
};

void Replay::keys() {
  for (int i = 0; i < kKeys; ++i) {
    const auto k = static_cast<DispatchKey>(i);
    const std::string n = std::to_string(i);
    if (k == DispatchKey::EndOfFunctionalityKeys) continue;  // no key: it counts them
    std::cout << "name " << n << ' ' << to_string(k) << '\n';
    hex("set " + n, k);
    if (k < DispatchKey::EndOfFunctionalityKeys && k != DispatchKey::Undefined) hex("after " + n, DispatchKeySet::full_after(k));
    hex("behind " + n, backends_of_autograd(k));
    std::cout << "highest " << n << ' ' << number(DispatchKeySet(k).highest()) << '\n';
    for (int a = number(DispatchKey::StartOfAliasKeys); a < kKeys; ++a) {
      if (is_included_in_alias(k, static_cast<DispatchKey>(a))) std::cout << "alias " << n << ' ' << a << '\n';
    }
  }
  hex("full", DispatchKeySet::full());
  hex("after_autograd", kAfterAutograd);
  hex("after_ADInplaceOrView", kAfterADInplaceOrView);
  hex("autogradother_backends", kAutogradOtherBackends);
  // Arithmetic and text on pseudo-random words; the test does the same.
  uint64_t state = 20260;
  const auto draw = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return DispatchKeySet::from_raw((state >> 1) & DispatchKeySet::full().raw());
  };
  for (int i = 0; i < 300; ++i) {
    const DispatchKeySet a = draw(), b = draw() & draw(), c = draw() & draw() & draw() & draw();
    std::cout << "random " << i << std::hex << " 0x" << (a | b).raw() << " 0x" << (a - b).raw() << " 0x" << (a & b).raw() << std::dec << ' '
              << number(c.highest()) << ' ' << to_string(c) << '\n';
  }
}

void say_mode(const char* mode) {
  const LocalKeys l = local_keys();
  std::cout << mode << std::hex << " 0x" << l.included.raw() << " 0x" << l.excluded.raw() << std::dec << ' ' << grad_state.grad_mode << ' '
            << grad_state.inference_mode << '\n';
}

// The state under the guard that `make` returns; `inside` goes on there.
void in(const char* mode, auto make, auto inside) {
  const auto guard = make();
  say_mode(mode);
  inside();
}
void in(const char* mode, auto make) {
  in(mode, make, [] {});
}

void Replay::modes() {
  const auto grad = [](bool on) { return [on] { return GradMode(on); }; };
  const auto inference = [](bool on) { return [on] { return InferenceMode(on); }; };
  const auto autocast = [](BackendComponent b, bool on) { return [b, on] { return AutocastMode(b, on); }; };
  const auto mode = [](KeyMode m) { return [m] { return KeyModeGuard(m); }; };
  say_mode("default");
  in("no_grad", grad(false), [&] {
    in("no_grad/enable_grad", grad(true));
    in("no_grad/inference_mode(False)", inference(false));
  });
  in("inference_mode", inference(true), [&] {
    in("inference_mode/enable_grad", grad(true));
    in("inference_mode/inference_mode(False)", inference(false));
    in("inference_mode/functorch", mode(KeyMode::kFunctorch));
  });
  say_mode("default again");
  in("autocast cpu", autocast(BackendComponent::CPUBit, true), [&] {
    in("autocast cpu/off", autocast(BackendComponent::CPUBit, false));
    in("autocast cpu/cuda", autocast(BackendComponent::CUDABit, true));
    in("autocast cpu/inference_mode", inference(true));
  });
  in("functorch", mode(KeyMode::kFunctorch), [&] { in("functorch/functorch", mode(KeyMode::kFunctorch)); });
  for (const char* transform : {"grad", "jvp", "functionalize"}) in(transform, mode(KeyMode::kFunctorch));
  in("fake tensor mode", mode(KeyMode::kPython));
  in("python mode", mode(KeyMode::kPython), [&] { in("python mode/inference_mode", inference(true)); });
  in("python handler", mode(KeyMode::kPythonHandler));
  in("python dispatcher", mode(KeyMode::kPythonDispatcher));
  in("pre-dispatch", mode(KeyMode::kPreDispatch));
  in("below autograd", [] { return BelowAutograd(); }, [&] {
    in("below autograd/inference_mode(False)", inference(false));
    say_mode("below autograd again");
  });
  in("below ADInplaceOrView", [] { return BelowADInplaceOrView(); });
  in("include Tracer", [] { return IncludeKeys(DispatchKey::Tracer); }, [] {
    set_key_included(DispatchKey::Batched, true);
    say_mode("include Tracer, set Batched");
  });
  say_mode("after include");
  in("exclude AutogradCUDA", [] { return ExcludeKeys(DispatchKey::AutogradCUDA); }, [] {
    set_key_excluded(DispatchKey::AutocastCPU, false);
    say_mode("exclude AutogradCUDA, reset AutocastCPU");
  });
  say_mode("after exclude");
  in("force", [] { return ForceKeys({DispatchKey::CPU, DispatchKey::AutogradCPU}); });
  say_mode("end");
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Replay replay;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      replay.run(line);
    } catch (const std::exception& e) {
      std::string text = e.what();
      for (char& c : text) c = c == '\n' ? '\x1f' : c;
      std::cout << "error " << text << '\n';
    }
    std::cout << ".\n" << std::flush;
  }
}
