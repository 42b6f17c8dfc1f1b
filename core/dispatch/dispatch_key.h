// Dispatch keys in the numbering of PyTorch 2.13 (measured on 2.13.0): functionality keys, runtime keys (one per
// functionality and backend for six of them) and alias keys, which stand for several runtime keys at registration only.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peel::core {

// Order is value: nothing here may move. Meta is last so that a Meta key included by a mode wins.
#define PEEL_BACKENDS(X) \
  X(CPU) X(CUDA) X(HIP) X(XLA) X(MPS) X(IPU) X(XPU) X(HPU) X(VE) X(Lazy) X(MTIA) X(MAIA) X(PrivateUse1) X(PrivateUse2) X(PrivateUse3) X(Meta)
// X: one bit, one slot. B: one bit, a slot per backend.
#define PEEL_FUNCTIONALITIES(X, B)                                                                                              \
  B(Dense) X(FPGA) X(Vulkan) X(Metal) B(Quantized) X(CustomRNGKeyId) X(MkldnnCPU) B(Sparse) B(SparseCsr) B(NestedTensor)        \
  X(BackendSelect) X(Fake) X(Python) X(FuncTorchDynamicLayerBackMode) X(Functionalize) X(Conjugate) X(Negative) X(ZeroTensor)   \
  X(ADInplaceOrView) X(AutogradOther) B(AutogradFunctionality) X(AutogradNestedTensor) X(Tracer) X(AutocastCPU) X(AutocastMTIA) \
  X(AutocastMAIA) X(AutocastXPU) X(AutocastIPU) X(AutocastHPU) X(AutocastXLA) X(AutocastMPS) X(AutocastCUDA)                    \
  X(AutocastPrivateUse1) X(FuncTorchBatched) X(BatchedNestedTensor) X(FuncTorchVmapMode) X(Batched) X(VmapMode)                 \
  X(FuncTorchGradWrapper) X(DeferredInit) X(PythonTLSSnapshot) X(FuncTorchDynamicLayerFrontMode) X(TESTING_ONLY_GenericWrapper) \
  X(TESTING_ONLY_GenericMode) X(PreDispatch) X(PythonDispatcher)
#define PEEL_ALIASES(X)                                                                                            \
  X(Autograd) X(CompositeImplicitAutograd) X(FuncTorchBatchedDecomposition) X(CompositeImplicitAutogradNestedTensor) \
  X(CompositeExplicitAutograd) X(CompositeExplicitAutogradNonFunctional)

/// Which device's implementation. Bit of a set = value - 1.
enum class BackendComponent : uint8_t {
  InvalidBit,
#define PEEL_ONE(b) b##Bit,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
  EndOfBackendKeys = MetaBit,
};

enum class DispatchKey : uint16_t {
  Undefined,
#define PEEL_ONE(k) k,
  PEEL_FUNCTIONALITIES(PEEL_ONE, PEEL_ONE)
  EndOfFunctionalityKeys,
  StartOfDenseBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) Quantized##b,
  StartOfQuantizedBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) Sparse##b,
  StartOfSparseBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) SparseCsr##b,
  StartOfSparseCsrBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) NestedTensor##b,
  StartOfNestedTensorBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) Autograd##b,
  StartOfAutogradFunctionalityBackends,
  PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(k) k,
  PEEL_ALIASES(PEEL_ONE)
#undef PEEL_ONE
  EndOfRuntimeBackendKeys = AutogradMeta,
  StartOfAliasKeys = Autograd,
  EndOfAliasKeys = CompositeExplicitAutogradNonFunctional,
};

constexpr int kBackends = static_cast<int>(BackendComponent::EndOfBackendKeys);
constexpr int kFunctionalities = static_cast<int>(DispatchKey::EndOfFunctionalityKeys);  // counts Undefined
constexpr int kPerBackendFunctionalities = 6;
constexpr int kSlots = kFunctionalities + kPerBackendFunctionalities * (kBackends - 1);
constexpr int kKeys = static_cast<int>(DispatchKey::EndOfAliasKeys) + 1;
static_assert(kBackends == 16 && kFunctionalities == 47 && kSlots == 137);
static_assert(kBackends + kFunctionalities <= 64, "a set is one word");
static_assert(static_cast<int>(DispatchKey::CPU) == 49 && static_cast<int>(DispatchKey::Autograd) == 150);

constexpr int number(DispatchKey k) { return static_cast<int>(k); }
constexpr bool is_alias(DispatchKey k) { return k >= DispatchKey::StartOfAliasKeys && k <= DispatchKey::EndOfAliasKeys; }
constexpr bool is_per_backend(DispatchKey functionality) {
  return functionality == DispatchKey::Dense || functionality == DispatchKey::Quantized || functionality == DispatchKey::Sparse ||
         functionality == DispatchKey::SparseCsr || functionality == DispatchKey::NestedTensor ||
         functionality == DispatchKey::AutogradFunctionality;
}

/// CPU -> Dense, AutogradCUDA -> AutogradFunctionality, Python -> Python; an alias -> Undefined.
constexpr DispatchKey functionality_of(DispatchKey k) {
  if (k < DispatchKey::EndOfFunctionalityKeys) return k;
  if (k == DispatchKey::EndOfFunctionalityKeys || k > DispatchKey::EndOfRuntimeBackendKeys) return DispatchKey::Undefined;
  constexpr DispatchKey groups[] = {DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Sparse, DispatchKey::SparseCsr,
                                    DispatchKey::NestedTensor, DispatchKey::AutogradFunctionality};
  return groups[(number(k) - number(DispatchKey::StartOfDenseBackends)) / (kBackends + 1)];
}
/// InvalidBit for a key that belongs to no backend.
constexpr BackendComponent backend_of(DispatchKey k) {
  if (k < DispatchKey::StartOfDenseBackends || k > DispatchKey::EndOfRuntimeBackendKeys) return BackendComponent::InvalidBit;
  return static_cast<BackendComponent>((number(k) - number(DispatchKey::StartOfDenseBackends)) % (kBackends + 1));
}
/// The inverse: {AutogradFunctionality, CUDA} -> AutogradCUDA; Undefined for a functionality without backends.
constexpr DispatchKey runtime_key(DispatchKey functionality, BackendComponent b) {
  switch (functionality) {
    case DispatchKey::Dense: return static_cast<DispatchKey>(number(DispatchKey::StartOfDenseBackends) + static_cast<int>(b));
    case DispatchKey::Quantized: return static_cast<DispatchKey>(number(DispatchKey::StartOfQuantizedBackends) + static_cast<int>(b));
    case DispatchKey::Sparse: return static_cast<DispatchKey>(number(DispatchKey::StartOfSparseBackends) + static_cast<int>(b));
    case DispatchKey::SparseCsr: return static_cast<DispatchKey>(number(DispatchKey::StartOfSparseCsrBackends) + static_cast<int>(b));
    case DispatchKey::NestedTensor: return static_cast<DispatchKey>(number(DispatchKey::StartOfNestedTensorBackends) + static_cast<int>(b));
    case DispatchKey::AutogradFunctionality:
      return static_cast<DispatchKey>(number(DispatchKey::StartOfAutogradFunctionalityBackends) + static_cast<int>(b));
    default: return DispatchKey::Undefined;
  }
}

/// As PyTorch prints it. `MTIABit` and `MAIABit` lack the suffix there.
const char* to_string(DispatchKey);
const char* to_string(BackendComponent);
/// A key by its printed name: runtime keys, functionality keys and aliases; nothing for another word. (PyTorch's own
/// parser lacks some backends, e.g. QuantizedMeta; this one knows every key.)
std::optional<DispatchKey> parse_dispatch_key(std::string_view);

}  // namespace peel::core
