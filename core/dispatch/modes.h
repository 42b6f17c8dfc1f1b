// What a program's modes do to a thread: the autograd flags and the key sets. As measured on PyTorch 2.13.0, for each mode
// (tests/conformance/dispatch_keys.py): no_grad changes no set; inference_mode changes both.
#pragma once
#include "core/dispatch/local_keys.h"

namespace peel::core {

/// The autograd flags of a thread. They are beside the key sets, not in them.
struct GradState {
  bool grad_mode = true, inference_mode = false, forward_grad_mode = true, multithreading = true;
  bool operator==(const GradState&) const = default;
};
[[gnu::tls_model("initial-exec")]] inline thread_local constinit GradState grad_state{};

/// no_grad, enable_grad: only the flag.
class GradMode {
 public:
  explicit GradMode(bool on) : saved_(grad_state.grad_mode) { grad_state.grad_mode = on; }
  ~GradMode() { grad_state.grad_mode = saved_; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool saved_;
};

/// inference_mode(true): no ADInplaceOrView included, autograd excluded, grad mode off. (false): the opposite of each, grad
/// mode on even inside no_grad. All of it is restored as a whole.
class InferenceMode : PreserveKeys {
 public:
  explicit InferenceMode(bool on);
  ~InferenceMode() { grad_state = saved_; }

 private:
  GradState saved_ = grad_state;
};

/// Autocast of a device: its key leaves the excluded set (on) or comes back (off).
class AutocastMode : PreserveKeys {
 public:
  AutocastMode(BackendComponent device, bool on);
};

/// Modes that only put keys into the sets.
enum class KeyMode : uint8_t { kPython, kPythonHandler, kFunctorch, kPythonDispatcher, kPreDispatch, kSkipFunctionalize };
class KeyModeGuard : PreserveKeys {
 public:
  explicit KeyModeGuard(KeyMode);
};

}  // namespace peel::core
