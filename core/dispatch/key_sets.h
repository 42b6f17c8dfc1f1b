// Named key sets and the sets behind alias keys, as PyTorch 2.13 has them (tests/conformance compares each).
#pragma once
#include "core/dispatch/dispatch_key_set.h"

namespace peel::core {

inline constexpr DispatchKeySet kAutograd{DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther, DispatchKey::AutogradNestedTensor};
inline constexpr DispatchKeySet kAutogradAndADInplaceOrView = kAutograd | DispatchKeySet(DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet kAutocast{
    DispatchKey::AutocastCPU, DispatchKey::AutocastMTIA, DispatchKey::AutocastMAIA, DispatchKey::AutocastXPU, DispatchKey::AutocastIPU,
    DispatchKey::AutocastHPU, DispatchKey::AutocastXLA, DispatchKey::AutocastMPS, DispatchKey::AutocastCUDA, DispatchKey::AutocastPrivateUse1};
inline constexpr DispatchKeySet kDefaultIncluded{DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView};
inline constexpr DispatchKeySet kDefaultExcluded = kAutocast;
inline constexpr DispatchKeySet kAfterAutograd = DispatchKeySet::full_after(DispatchKey::AutogradOther);
inline constexpr DispatchKeySet kAfterADInplaceOrView = DispatchKeySet::full_after(DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet kAfterFunctionalize = DispatchKeySet::full_after(DispatchKey::Functionalize) - DispatchKey::ADInplaceOrView;
inline constexpr DispatchKeySet kPython{DispatchKey::Python, DispatchKey::PythonTLSSnapshot};
inline constexpr DispatchKeySet kSparse{DispatchKey::Sparse};
inline constexpr DispatchKeySet kSparseCsr{DispatchKey::SparseCsr};
inline constexpr DispatchKeySet kMkldnn{DispatchKey::MkldnnCPU};
/// Backends whose autograd key is AutogradOther.
inline constexpr DispatchKeySet kAutogradOtherBackends =
    DispatchKeySet{DispatchKey::FPGA, DispatchKey::Vulkan, DispatchKey::Metal, DispatchKey::CustomRNGKeyId, DispatchKey::MkldnnCPU,
                   DispatchKey::Sparse, DispatchKey::SparseCsr, DispatchKey::Quantized} | DispatchKeySet::all_backends();
inline constexpr DispatchKeySet kBackendFunctionalities =
    DispatchKeySet{DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Sparse, DispatchKey::SparseCsr} | DispatchKeySet::all_backends();
inline constexpr DispatchKeySet kFunctorchTransforms{DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchVmapMode, DispatchKey::Batched,
                                                     DispatchKey::VmapMode, DispatchKey::FuncTorchGradWrapper};
inline constexpr DispatchKeySet kFunctorchBatched{DispatchKey::FuncTorchBatched};
inline constexpr DispatchKeySet kADInplaceOrView{DispatchKey::ADInplaceOrView};
inline constexpr DispatchKeySet kUndefinedTensor{DispatchKey::ADInplaceOrView, DispatchKey::AutogradOther};

/// The runtime keys that a registration at `k` reaches: an alias's members, else the key itself.
DispatchKeySet runtime_keys(DispatchKey k);
/// False for Undefined; true for an alias, whose set is empty.
bool is_included_in_alias(DispatchKey k, DispatchKey alias);
/// A key at which a backend's own kernel stands: not an alias, not NestedTensor.
bool is_backend_key(DispatchKey k);
/// Backends behind an autograd key. Empty for AutogradHIP, AutogradVE and AutogradMTIA: measured, and it matters to precedence.
DispatchKeySet backends_of_autograd(DispatchKey k);
/// AutogradCPU for CPU; AutogradOther for HIP, VE and no backend.
DispatchKey autograd_key_of(BackendComponent);
/// ADInplaceOrView and the autograd key: what a tensor of this backend gets at construction.
DispatchKeySet autograd_keys_of(BackendComponent);
/// The autocast key; empty for the backends that have none.
DispatchKeySet autocast_keys_of(BackendComponent);

}  // namespace peel::core
