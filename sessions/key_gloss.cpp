// What each dispatch key is for, in about six words.
#include <string_view>
#include <utility>

#include "sessions/why.h"
#include "sessions/why_terms.h"

namespace peel {

const char* key_gloss(std::string_view n) {
  static constexpr std::pair<std::string_view, const char*> exact[] = {
      {"BackendSelect", "picks the backend for factory functions"},
      {"Python", "hands the call to __torch_dispatch__"},
      {"Fake", "computes shapes and dtypes only"},
      {"FuncTorchDynamicLayerBackMode", "functorch: leaves the innermost transform"},
      {"FuncTorchDynamicLayerFrontMode", "functorch: enters the innermost transform"},
      {"FuncTorchGradWrapper", "functorch: gradient level of grad"},
      {"FuncTorchBatched", "functorch: batching rule of vmap"},
      {"FuncTorchVmapMode", "functorch: random numbers under vmap"},
      {"BatchedNestedTensor", "batches nested tensors"},
      {"Batched", "older vmap's batching"},
      {"VmapMode", "older vmap's random numbers"},
      {"Functionalize", "replaces mutation by functional calls"},
      {"Named", "checks and passes on dimension names"},
      {"Conjugate", "resolves the lazy conjugate bit"},
      {"Negative", "resolves the lazy negative bit"},
      {"ZeroTensor", "handles tensors known to be zero"},
      {"ADInplaceOrView", "tracks views, counts in-place writes"},
      {"AutogradOther", "records the graph, backends without own key"},
      {"AutogradNestedTensor", "records the graph of nested tensors"},
      {"Tracer", "records the call for jit.trace"},
      {"DeferredInit", "defers initialisation of parameters"},
      {"PythonTLSSnapshot", "saves thread-local state for Python"},
      {"PreDispatch", "pre-dispatch tracing for export"},
      {"PythonDispatcher", "asks Python before the C++ table"},
      {"FPGA", "kernel for FPGA tensors"},
      {"Vulkan", "kernel for Vulkan tensors"},
      {"Metal", "kernel for Metal tensors"},
      {"CustomRNGKeyId", "custom random number generators"},
      {"MkldnnCPU", "kernel for oneDNN tensors, does the work"},
      {"Undefined", "no key left: no tensor argument"},
      {"Autograd", "alias: every Autograd key"},
      {"CompositeImplicitAutograd", "alias: composite for all backends and autograd"},
      {"CompositeExplicitAutograd", "alias: default kernel for all backends"},
      {"CompositeExplicitAutogradNonFunctional", "alias: default kernel, not for functional backends"},
      {"CompositeImplicitAutogradNestedTensor", "alias: composite for nested tensors"},
      {"FuncTorchBatchedDecomposition", "alias: vmap by decomposition"},
  };
  for (const auto& [name, gloss] : exact) {
    if (n == name) return gloss;
  }
  if (n.starts_with("TESTING_ONLY")) return "for tests of the dispatcher";
  if (n.starts_with("Autograd")) return "records the backward graph";
  if (n.starts_with("Autocast")) return "casts arguments to the autocast dtype";
  if (n.starts_with("NestedTensor")) return "kernel for nested tensors, does the work";
  if (n.starts_with("SparseCsr")) return "kernel for sparse CSR tensors, does the work";
  if (n.starts_with("Sparse")) return "kernel for sparse tensors, does the work";
  if (n.starts_with("Quantized")) return "kernel for quantized tensors, does the work";
  if (n == "Meta") return "computes shapes only, no data";
  if (n == "CPU") return "kernel for CPU tensors, does the work";
  if (n == "CUDA") return "kernel for CUDA tensors, does the work";
  for (const std::string_view backend : {"HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3"}) {
    if (n == backend) return "kernel of that backend, does the work";
  }
  return "";
}

const char* verdict_name(Verdict v) {
  constexpr const char* names[] = {"ran", "below", "masked", "fell_through", "excluded", "not_in_set"};
  return names[static_cast<int>(v)];
}

std::string why_words(const WhyKey& k) { return k.detail.empty() ? k.reason : k.reason + ": " + k.detail; }

const char* verdict_words(Verdict v) {
  switch (v) {
    case Verdict::kRan: return "ran";
    case Verdict::kBelow: return "below: a layer above did not go on";
    case Verdict::kMasked: return "masked by the caller's redispatch";
    case Verdict::kFellThrough: return "fell through";
    case Verdict::kExcluded: return "excluded";
    case Verdict::kNotInSet: return "not in the set";
  }
  return "";
}

}  // namespace peel
