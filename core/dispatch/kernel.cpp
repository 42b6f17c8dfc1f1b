#include "core/dispatch/kernel.h"

#include "core/dispatch/error.h"
#include "core/dispatch/operator_handle.h"

namespace peel::core {
namespace {

void run_fallthrough(OperatorKernel*, const OperatorHandle& op, DispatchKeySet set, Stack*) {
  throw Error("fallthrough_kernel was executed but it should have been short-circuited by the dispatcher: " + op.name().text() +
              " was sent to the key " + to_string(set.highest()) + ", where it falls through.");
}

void run_ambiguous(OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack*) {
  throw Error(op.name().text() + " has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther. This makes the "
              "backend kernel unreachable; the dispatcher will always prefer the CompositeImplicitAutograd lowering (see Note [Ambiguity in "
              "AutogradOther kernel]). If you want to override CompositeImplicitAutograd, please open an issue to request a dedicated Autograd "
              "dispatch key for the backend.\nIf you only want to run inference instead of training, in C++, add `c10::InferenceMode mode;` before "
              "model.forward(); in Python, use `torch.inference_mode()` as a context manager (see "
              "https://pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html).");
}

Kernel ambiguous() {
  Kernel k;
  k.function.boxed = run_ambiguous;
  k.key = DispatchKey::AutogradOther;
  k.debug = "ambiguous_autogradother";
  return k;
}

// Types that one C++ type serves.
bool same(const Type& declared, const Type& inferred) {
  if (declared.kind != inferred.kind || declared.inner.size() != inferred.inner.size()) return false;
  for (size_t i = 0; i < declared.inner.size(); ++i) {
    if (!same(declared.inner[i], inferred.inner[i])) return false;
  }
  const auto plain = [](const std::string& name) {
    return name == "SymInt" || name == "ScalarType" || name == "Layout" || name == "MemoryFormat" || name == "QScheme" ? std::string("int") : name;
  };
  return inferred.is("Any") || plain(declared.name) == plain(inferred.name);
}

std::string difference(const char* what, const std::vector<Argument>& declared, const std::vector<Argument>& inferred) {
  if (declared.size() != inferred.size()) {
    return std::string("The number of ") + what + "s is different. " + std::to_string(declared.size()) + " vs " +
           std::to_string(inferred.size()) + ".";
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!same(declared[i].type, inferred[i].type)) {
      return std::string("Type mismatch in ") + what + " " + std::to_string(i + 1) + ": " + declared[i].type.text() + " vs " +
             inferred[i].type.text();
    }
  }
  return {};
}

}  // namespace

constinit const Kernel kMissingKernel{};
const Kernel kAmbiguousAutogradOther = ambiguous();

bool KernelFunction::is_fallthrough() const { return boxed == run_fallthrough; }

KernelFunction KernelFunction::fallthrough() {
  KernelFunction f;
  f.boxed = run_fallthrough;
  return f;
}

void check_inferred_schema(const FunctionSchema& schema, const Kernel& k, const std::string& schema_debug) {
  std::string reason = difference("argument", schema.arguments, k.function.inferred->arguments);
  if (reason.empty()) reason = difference("return", schema.returns, k.function.inferred->returns);
  if (reason.empty()) return;
  throw Error("Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n  operator: " +
              schema.name.text() + "\n  expected schema: " + schema.text() + "\n    " + schema_debug +
              "\n  inferred schema: " + k.function.inferred->signature_text() + "\n    " + k.debug + "\n  reason: " + reason);
}

}  // namespace peel::core
