#include "kernels/load.h"

#include <mutex>

#include "core/autograd/fallback.h"
#include "core/functorch/batching.h"
#include "core/functorch/layers.h"
#include "core/ops/load.h"

namespace peel::kernels {
namespace {

using namespace core;
using Kind = Library::Kind;
using K = DispatchKey;

struct Loaded {
  Loaded() {
    libraries.reserve(64);
    define_operators(add(Kind::kDef, "aten", {}));
    register_kernels(&libraries);
    register_backend_select(add(Kind::kImpl, "aten", K::BackendSelect));
    register_autograd(add(Kind::kImpl, "aten", K::Autograd));
    register_autograd_of_nested(add(Kind::kImpl, "aten", K::AutogradNestedTensor));
    register_in_place_or_view(add(Kind::kImpl, "aten", K::ADInplaceOrView));
    register_autocast(add(Kind::kImpl, "aten", K::AutocastCPU));
    register_conjugate_fallthroughs(add(Kind::kImpl, "aten", K::Conjugate));
    register_negative_fallthroughs(add(Kind::kImpl, "aten", K::Negative));
    for (const K k : {K::Conjugate, K::Negative}) {
      add(Kind::kImpl, "_", k).fallback(boxed_kernel([k](const OperatorHandle& op, DispatchKeySet set, Stack* stack) { materialise(k, op, set, stack); }));
    }
    register_forward_mode_views(add(Kind::kImpl, "aten", K::ADInplaceOrView));
    {
      Library& at_batched = add(Kind::kImpl, "aten", K::FuncTorchBatched);
      register_batch_rules(at_batched, add(Kind::kImpl, "aten", K::FuncTorchVmapMode));
      register_decompositions(at_batched);
      register_before_transforms(add(Kind::kImpl, "aten", K::FuncTorchDynamicLayerFrontMode));
    }
    add(Kind::kImpl, "_", K::FuncTorchBatched).fallback(boxed_kernel(&functorch::loop_over_samples));
    add(Kind::kImpl, "_", K::FuncTorchDynamicLayerFrontMode).fallback(boxed_kernel(&functorch::front));
    add(Kind::kImpl, "_", K::FuncTorchDynamicLayerBackMode).fallback(boxed_kernel(&functorch::back));
    add(Kind::kImpl, "_", K::FuncTorchGradWrapper).fallback(boxed_kernel(&functorch::of_dead_wrapper));
    for (const char* name : {"lift_fresh", "alias"}) {
      add(Kind::kImpl, "aten", K::FuncTorchDynamicLayerBackMode).impl(name, boxed_kernel(&functorch::back_of_fresh));
    }
    // Keys at which most operators have nothing to do, as in stock.
    for (const K k : {K::BackendSelect, K::ADInplaceOrView, K::AutocastCPU, K::AutocastCUDA, K::AutocastXPU, K::AutocastMPS, K::AutocastMTIA,
                      K::AutocastMAIA, K::FuncTorchVmapMode, K::VmapMode}) {
      add(Kind::kImpl, "_", k).fallback(KernelFunction::fallthrough());
    }
    for (const K k : {K::AutogradOther, K::AutogradCPU, K::AutogradCUDA, K::AutogradXLA, K::AutogradMPS, K::AutogradXPU, K::AutogradHPU, K::AutogradLazy,
                      K::AutogradMTIA, K::AutogradMAIA, K::AutogradPrivateUse1, K::AutogradMeta}) {
      add(Kind::kImpl, "_", k).fallback(boxed_kernel(&autograd_fallback));
    }
  }
  Library& add(Kind kind, const char* space, std::optional<K> key) { return libraries.emplace_back(kind, space, key, __FILE__, __LINE__); }
  std::vector<Library> libraries;
};

// Never goes, as calls hold handles. volatile: nobody reads it, and leak checkers are to find it.
const Loaded* volatile all = nullptr;

}  // namespace

void load_operators() {
  static std::once_flag once;
  std::call_once(once, [] { all = new Loaded; });
}

}  // namespace peel::kernels
