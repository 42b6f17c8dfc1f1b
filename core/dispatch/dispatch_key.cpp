#include "core/dispatch/dispatch_key.h"

namespace peel::core {
namespace {

constexpr const char* kKeyNames[] = {
    "Undefined",
#define PEEL_ONE(k) #k,
    PEEL_FUNCTIONALITIES(PEEL_ONE, PEEL_ONE)
    "UnknownUnknown",
    "Undefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) "Quantized" #b,
    "QuantizedUndefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) "Sparse" #b,
    "SparseUndefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) "SparseCsr" #b,
    "SparseCsrUndefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) "NestedTensor" #b,
    "NestedTensorUndefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(b) "Autograd" #b,
    "AutogradUndefined",
    PEEL_BACKENDS(PEEL_ONE)
#undef PEEL_ONE
#define PEEL_ONE(k) #k,
    PEEL_ALIASES(PEEL_ONE)
#undef PEEL_ONE
};
static_assert(std::size(kKeyNames) == kKeys);

constexpr const char* kBackendNames[] = {"InvalidBit", "CPUBit", "CUDABit", "HIPBit", "XLABit", "MPSBit", "IPUBit", "XPUBit", "HPUBit",
                                         "VEBit", "LazyBit", "MTIA", "MAIA", "PrivateUse1Bit", "PrivateUse2Bit", "PrivateUse3Bit", "MetaBit"};
static_assert(std::size(kBackendNames) == kBackends + 1);

}  // namespace

const char* to_string(DispatchKey k) { return number(k) < kKeys ? kKeyNames[number(k)] : "UNKNOWN_TENSOR_TYPE_ID"; }

const char* to_string(BackendComponent b) {
  return static_cast<int>(b) <= kBackends ? kBackendNames[static_cast<int>(b)] : "UNKNOWN_BACKEND_BIT";
}

std::optional<DispatchKey> parse_dispatch_key(std::string_view name) {
  for (int k = 0; k < kKeys; ++k) {
    if (name == kKeyNames[k] && k != number(DispatchKey::EndOfFunctionalityKeys)) return static_cast<DispatchKey>(k);
  }
  return std::nullopt;
}

}  // namespace peel::core
