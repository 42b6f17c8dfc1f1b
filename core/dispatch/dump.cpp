// Text of registrations and tables, line for line as PyTorch 2.13 writes them.
#include "core/dispatch/dispatcher.h"

namespace peel::core {
namespace {

// Undefined first, then every runtime key.
template <class F>
void each_key(F f) {
  f(DispatchKey::Undefined);
  for (const DispatchKey k : DispatchKeySet::full()) f(k);
}

const char* to_string(AliasAnalysis a) {
  constexpr const char* names[] = {"FROM_SCHEMA", "PURE_FUNCTION", "CONSERVATIVE", "CONSERVATIVE (default)"};
  return names[static_cast<int>(a)];
}

std::string words(const KernelFunction& f) {
  std::string out;
  if (f.is_fallthrough()) out += "fallthrough ";
  if (f.boxed) out += "boxed ";
  if (f.unboxed) out += "unboxed ";
  return out;
}

}  // namespace

std::string Dispatcher::dump(const OperatorEntry& e) const {
  const std::lock_guard lock(mutex_);
  std::string out = "name: " + e.name().text() + "\n";
  if (const RegisteredSchema* s = e.registered_schema()) {
    out += "schema: " + s->schema.text() + "\ndebug: " + s->debug + "\nalias analysis kind: " + to_string(s->alias_analysis) + "\n";
  } else {
    out += "schema: (none)\n";
  }
  for (const auto& [key, kernels] : e.registrations()) {
    for (size_t i = kernels.size(); i-- > 0;) {
      const Kernel& k = *kernels[i];
      out += std::string(to_string(key)) + (is_alias(key) ? "[alias]" : "") + (i + 1 < kernels.size() ? " (inactive)" : "") + ": " + k.debug +
             " :: " + (k.function.inferred ? k.function.inferred->signature_text() : "(none)") + " [ " + words(k.function) + "]\n";
    }
  }
  return out;
}

std::string Dispatcher::dump_table(const OperatorEntry& e, std::span<const PrecedenceRule> rules) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  each_key([&](DispatchKey k) {
    const TableEntry entry = e.computed(k, rules);
    if (!entry.kernel->function.valid()) return;
    out += std::string(to_string(k)) + ": " + (entry.kernel->function.is_fallthrough() ? "fallthrough " : "") + entry.kernel->debug + " [" +
           to_string(entry.provenance) + "]\n";
  });
  return out;
}

std::string Dispatcher::available_keys(const OperatorEntry& e) const {
  const std::lock_guard lock(mutex_);
  std::string out = "[";
  each_key([&](DispatchKey k) {
    if (e.computed(k).kernel->function.valid()) out += (out.size() > 1 ? ", " : "") + std::string(to_string(k));
  });
  return out + "]";
}

}  // namespace peel::core
