// Autocast on the CPU: its state, its casts and their cache, as measured on 2.13.0. The kernels at AutocastCPU are generated from the
// lists' `autocast` entries: arguments are cast, then the operator is called again below the layer.
#pragma once
#include <span>
#include <vector>

#include "core/dispatch/modes.h"
#include "core/tensor/tensor.h"

namespace peel::core {

/// Of a thread. Whether autocast is on is in the excluded set, not here.
struct AutocastState {
  ScalarType dtype = ScalarType::BFloat16;
  bool cache = true;
  int nesting = 0;
};
AutocastState& autocast_state();
bool autocast_enabled();
void set_autocast_enabled(bool);
/// Casts of weights that are kept; of the process.
void clear_autocast_cache();

/// What `with torch.autocast("cpu", dtype, enabled, cache_enabled)` does. The cache ends with the outermost one.
class AutocastScope {
 public:
  AutocastScope(bool enabled, ScalarType, bool cache);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  bool enabled_;
  AutocastState saved_;
};

namespace autocast {

/// Floating arguments, but for float64, in this type. The cast of a float32 leaf that requires grad is kept, and made with grad mode on,
/// also in no_grad: so a later forward may use it. In inference mode nothing is kept or found.
Tensor cast(ScalarType, const Tensor&);
std::optional<Tensor> cast(ScalarType, const std::optional<Tensor>&);
std::vector<Tensor> cast(ScalarType, std::span<const Tensor>);
/// float32 when an argument has it, else the lower type.
ScalarType widest(std::span<const Tensor>);
inline ScalarType lower() { return autocast_state().dtype; }
struct Below : ExcludeKeys {
  Below() : ExcludeKeys(DispatchKey::AutocastCPU) {}
};

}  // namespace autocast
}  // namespace peel::core
