#include "core/dispatch/key_sets.h"

namespace peel::core {
namespace {

using K = DispatchKey;

// The loose keys and the per-backend functionalities that count as backends.
constexpr DispatchKeySet kBackendKeys = kAutogradOtherBackends | DispatchKeySet(K::Dense);
constexpr DispatchKeySet kNested = DispatchKeySet(K::NestedTensor) | DispatchKeySet::all_backends();
constexpr DispatchKeySet kAllAutograd = kAutograd | DispatchKeySet::all_backends();
constexpr DispatchKeySet kNonFunctional =
    (kBackendKeys - K::Sparse).without_backend(BackendComponent::XLABit).without_backend(BackendComponent::LazyBit);

}  // namespace

DispatchKeySet runtime_keys(DispatchKey k) {
  switch (k) {
    case K::Autograd: return kAllAutograd;
    case K::CompositeImplicitAutograd: return kBackendKeys | kAllAutograd | kNested;
    case K::CompositeImplicitAutogradNestedTensor: return kNested | K::AutogradNestedTensor;
    case K::CompositeExplicitAutograd: return kBackendKeys;
    case K::CompositeExplicitAutogradNonFunctional: return kNonFunctional;
    case K::FuncTorchBatchedDecomposition: return K::FuncTorchBatched;
    default: return k;
  }
}

bool is_included_in_alias(DispatchKey k, DispatchKey alias) { return k != K::Undefined && runtime_keys(alias).has(k); }

bool is_backend_key(DispatchKey k) {
  return !DispatchKeySet(k).empty() && functionality_of(k) != K::NestedTensor && kBackendKeys.has(k);
}

DispatchKeySet backends_of_autograd(DispatchKey k) {
  switch (k) {
    case K::AutogradCPU:
    case K::AutogradCUDA:
    case K::AutogradXLA:
    case K::AutogradLazy:
    case K::AutogradMeta:
    case K::AutogradMPS:
    case K::AutogradHPU:
    case K::AutogradIPU:
    case K::AutogradXPU:
    case K::AutogradMAIA:
    case K::AutogradPrivateUse1:
    case K::AutogradPrivateUse2:
    case K::AutogradPrivateUse3: return runtime_key(K::Dense, backend_of(k));
    case K::AutogradNestedTensor: return kNested;
    case K::AutogradOther: return kAutogradOtherBackends;
    default: return {};
  }
}

DispatchKey autograd_key_of(BackendComponent b) {
  const bool own = b != BackendComponent::InvalidBit && b != BackendComponent::HIPBit && b != BackendComponent::VEBit;
  return own ? runtime_key(K::AutogradFunctionality, b) : K::AutogradOther;
}

DispatchKeySet autograd_keys_of(BackendComponent b) { return kADInplaceOrView | autograd_key_of(b); }

DispatchKeySet autocast_keys_of(BackendComponent b) {
  switch (b) {
    case BackendComponent::CPUBit: return K::AutocastCPU;
    case BackendComponent::MTIABit: return K::AutocastMTIA;
    case BackendComponent::MAIABit: return K::AutocastMAIA;
    case BackendComponent::XPUBit: return K::AutocastXPU;
    case BackendComponent::IPUBit: return K::AutocastIPU;
    case BackendComponent::HPUBit: return K::AutocastHPU;
    case BackendComponent::CUDABit: return K::AutocastCUDA;
    case BackendComponent::XLABit: return K::AutocastXLA;
    case BackendComponent::PrivateUse1Bit: return K::AutocastPrivateUse1;
    case BackendComponent::MPSBit: return K::AutocastMPS;
    default: return {};
  }
}

std::string to_string(DispatchKeySet set) {
  std::string out = "DispatchKeySet(";
  const char* between = "";
  for (const DispatchKey k : set) {
    out += between;
    out += to_string(k);
    between = ", ";
  }
  return out + ")";
}

}  // namespace peel::core
