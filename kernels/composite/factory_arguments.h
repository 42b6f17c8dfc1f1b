// What operators that make new tensors are asked for besides sizes; nothing given: the default.
#pragma once
#include <optional>

#include "ops_generated/kernels.h"

namespace peel::kernels {

using Type = std::optional<ScalarType>;
using LayoutArgument = std::optional<Layout>;
using DeviceArgument = std::optional<Device>;
using Flag = std::optional<bool>;
using Format = std::optional<MemoryFormat>;

}  // namespace peel::kernels
