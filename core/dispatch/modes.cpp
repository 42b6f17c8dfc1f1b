#include "core/dispatch/modes.h"

namespace peel::core {
namespace {

using K = DispatchKey;

// While a __torch_dispatch__ handler runs, all above Python is excluded, except PythonDispatcher.
constexpr DispatchKeySet kAbovePython =
    DispatchKeySet::from_raw(DispatchKeySet::full().raw() & ~DispatchKeySet::full_after(K::Python).raw()) - K::Python;

}  // namespace

InferenceMode::InferenceMode(bool on) {
  grad_state = {!on, on, !on, !on};
  const LocalKeys l = local_keys();
  set_local_keys(on ? LocalKeys{l.included - kADInplaceOrView, l.excluded | kAutograd}
                    : LocalKeys{l.included | kADInplaceOrView, l.excluded - kAutograd});
}

AutocastMode::AutocastMode(BackendComponent device, bool on) {
  const LocalKeys l = local_keys();
  const DispatchKeySet key = autocast_keys_of(device);
  set_local_keys({l.included, on ? l.excluded - key : l.excluded | key});
}

KeyModeGuard::KeyModeGuard(KeyMode m) {
  LocalKeys l = local_keys();
  switch (m) {
    case KeyMode::kPython: l.included = l.included | kPython; break;
    case KeyMode::kPythonHandler: l.excluded = l.excluded | kAbovePython; break;
    case KeyMode::kFunctorch:
      l.included = l.included | DispatchKeySet{K::FuncTorchDynamicLayerFrontMode, K::FuncTorchDynamicLayerBackMode};
      break;
    case KeyMode::kPythonDispatcher: l.included = l.included | K::PythonDispatcher; break;
    case KeyMode::kPreDispatch: l.included = l.included | K::PreDispatch; break;
    case KeyMode::kSkipFunctionalize: l.excluded = l.excluded | K::Functionalize; break;
  }
  set_local_keys(l);
}

}  // namespace peel::core
