// How BackendSelect picks a backend.
#pragma once
#include "core/ops/types.h"

namespace peel::core {

/// The set to redispatch with. `given`: keys of the tensor arguments, which decide when the options name no device.
inline DispatchKeySet chosen_backend(const std::optional<ScalarType>&, const std::optional<Layout>& layout, const std::optional<Device>& device,
                                     DispatchKeySet given) {
  constexpr uint8_t kMeta = 14;
  const bool from_tensors = !device && given.highest_backend() != BackendComponent::InvalidBit;
  const bool meta = from_tensors ? given.has(DispatchKey::Meta) : device && device->type == kMeta;
  const Layout l = layout.value_or(Layout::Strided);
  const DispatchKeySet chosen = meta ? DispatchKey::Meta : l == Layout::Strided ? DispatchKey::CPU : l == Layout::Sparse ? DispatchKey::SparseCPU : DispatchKey::SparseCsrCPU;
  // What the tensors are counts as well: one of coordinates is made of dense parts.
  return chosen | (given & (kBackendFunctionalities | DispatchKeySet(DispatchKey::NestedTensorCPU)));
}

}  // namespace peel::core
