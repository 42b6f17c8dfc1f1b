// functorch's transforms that a thread is in: a stack of layers, the innermost last. As in stock, every call first comes to the key
// FuncTorchDynamicLayerFrontMode, whose fallback hands it to the innermost layer; what that layer has done with it goes on through
// FuncTorchDynamicLayerBackMode to the layer around it, under the thread-local sets with which the call had come in.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/dispatch/operator_handle.h"
#include "core/tensor/tensor.h"

namespace peel::core::functorch {

enum class Transform : uint8_t { kVmap, kGrad, kJvp };
/// What random numbers do under vmap.
enum class Randomness : uint8_t { kError, kSame, kDifferent };

struct Layer {
  Transform transform;
  int64_t level;
  int64_t batch_size = 0;  // of vmap
  Randomness randomness = Randomness::kError;
  bool mode_before = true;  // of grad: grad mode where the transform began; of jvp: that of forward gradients
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  std::optional<LocalKeys> entry{};  // while a call passes the layer: the sets that it came in with
};

/// Of this thread, from level 1.
const std::vector<Layer>& layers();
/// Each gives the level of the new layer.
int64_t push_vmap(int64_t batch_size, Randomness);
int64_t push_grad();
int64_t push_jvp();
/// Ends the innermost layer. Tensors that it wrapped are dead from here on.
int64_t pop_layer();

/// Takes the innermost layer away for a while, as its tensors are handed to the layer around it.
Layer take_innermost();
void put_back(Layer);

/// The innermost layer; Error where there is none, which is what a tensor that escaped its vmap leads to.
const Layer& current_layer(const char* what);

/// Backend fallbacks.
void front(const OperatorHandle&, DispatchKeySet, Stack*);
void back(const OperatorHandle&, DispatchKeySet, Stack*);
/// Of operators whose result is no view of the argument, though their schema says so: lift_fresh, alias.
void back_of_fresh(const OperatorHandle&, DispatchKeySet, Stack*);
/// At FuncTorchGradWrapper, where dead tensors are met outside of all layers.
void of_dead_wrapper(const OperatorHandle&, DispatchKeySet, Stack*);

/// x.requires_grad_() and the like inside of transforms: only for a transform's own inputs.
void check_may_require_grad(const char* what);
bool& requires_grad_allowed();

}  // namespace peel::core::functorch
