// How BackendSelect picks a backend.
#pragma once
#include "core/ops/types.h"

namespace peel::core {

/// The set to redispatch with. `given`: keys of the tensor arguments; where the options name no device the CPU is added to them, which gives way to any other.
inline DispatchKeySet chosen_backend(const std::optional<ScalarType>&, const std::optional<Layout>& layout, const std::optional<Device>& device,
                                     DispatchKeySet given) {
  constexpr uint8_t kMeta = 14;
  const bool meta = device && device->type == kMeta;
  const Layout l = layout.value_or(Layout::Strided);
  const DispatchKeySet chosen = meta ? DispatchKey::Meta : l == Layout::Strided ? DispatchKey::CPU : l == Layout::Sparse ? DispatchKey::SparseCPU : DispatchKey::SparseCsrCPU;
  // What the tensors are counts as well: one of coordinates is made of dense parts.
  return chosen | (given & (kBackendFunctionalities | DispatchKeySet(DispatchKey::NestedTensorCPU)));
}

}  // namespace peel::core
