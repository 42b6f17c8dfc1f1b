#include "core/python/autograd.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/autocast/autocast.h"
#include "core/autograd/anomaly.h"
#include "core/autograd/engine.h"
#include "core/autograd/fallback.h"
#include "core/autograd/forward.h"
#include "core/dispatch/error.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

// A mode that Python enters and leaves. Made when entered, as it holds for the thread that enters it.
class InferenceGuard {
 public:
  explicit InferenceGuard(bool on) : on_(on) {}
  void enter() { mode_ = std::make_unique<InferenceMode>(on_); }
  void leave(const nb::args&) { mode_.reset(); }

 private:
  bool on_;
  std::unique_ptr<InferenceMode> mode_;
};
// kernels written in Python go on below autograd, or below everything that tracks writes.
template <class Guard>
class KeyGuard {
 public:
  void enter() { guard_ = std::make_unique<Guard>(); }
  void leave(const nb::args&) { guard_.reset(); }

 private:
  std::unique_ptr<Guard> guard_;
};
// Printing runs outside of functorch's levels.
struct BelowFunctorch : ExcludeKeys {
  BelowFunctorch() : ExcludeKeys(DispatchKeySet{DispatchKey::FuncTorchDynamicLayerFrontMode, DispatchKey::FuncTorchDynamicLayerBackMode}) {}
};
template <class T, class... A>
void bind_guard(nb::module_& m, const char* name) {
  nb::class_<T>(m, name).def(nb::init<A...>()).def("__enter__", &T::enter).def("__exit__", &T::leave);
}

void run_backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads, bool keep_graph, bool create_graph, const std::optional<std::vector<Tensor>>& inputs) {
  BackwardOptions options;
  options.keep_graph = keep_graph;
  options.create_graph = create_graph;
  inputs ? backward_to(roots, grads, *inputs, options) : backward(roots, grads, options);
}

std::vector<Tensor> run_gradients(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads, const std::vector<Tensor>& inputs, bool keep_graph,
                                  bool create_graph, bool allow_unused) {
  BackwardOptions options;
  options.keep_graph = keep_graph;
  options.create_graph = create_graph;
  options.allow_unused = allow_unused;
  return gradients(roots, grads, inputs, options);
}

// with torch.autocast("cpu", ...)
class Autocast {
 public:
  Autocast(bool enabled, DType type, bool cache) : enabled_(enabled), type_(type), cache_(cache) {}
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  void enter() { scopes_.push_back(std::make_unique<AutocastScope>(enabled_, type_.type, cache_)); }
  void leave(const nb::args&) { scopes_.pop_back(); }

 private:
  bool enabled_;
  DType type_;
  bool cache_;
  std::vector<std::unique_ptr<AutocastScope>> scopes_;
};

Tensor gradient_from(const nb::object& hook, const Tensor& grad) {
  const nb::object out = hook(wrap(grad));
  if (out.is_none()) return {};
  if (!is_tensor(out)) throw TypeError(std::string("expected Variable, but hook returned '") + Py_TYPE(out.ptr())->tp_name + "'");
  return tensor_of(out);
}

// The line that runs, as anomaly mode tells where a node was made.
std::string python_traceback() {
  const nb::object lines = nb::module_::import_("traceback").attr("format_stack")();
  return nb::cast<std::string>(nb::str("").attr("join")(lines));
}

}  // namespace

void bind_autograd(nb::module_& m) {
  m.def("is_grad_enabled", [] { return grad_state.grad_mode; });
  m.def("_set_grad_enabled", [](bool on) { grad_state.grad_mode = on; });
  m.def("_is_fwd_grad_enabled", [] { return grad_state.forward_grad_mode; });
  m.def("_set_fwd_grad_enabled", [](bool on) { grad_state.forward_grad_mode = on; });
  m.def("_enter_dual_level", &enter_dual_level);
  m.def("_exit_dual_level", &exit_dual_level, nb::arg("level"));
  m.def("is_inference_mode_enabled", [] { return grad_state.inference_mode; });
  bind_guard<InferenceGuard, bool>(m, "_InferenceMode");
  bind_guard<KeyGuard<BelowAutograd>>(m, "_AutoDispatchBelowAutograd");
  bind_guard<KeyGuard<BelowADInplaceOrView>>(m, "_AutoDispatchBelowADInplaceOrView");
  bind_guard<KeyGuard<BelowFunctorch>>(m, "_DisableFuncTorch");
  bind_guard<Autocast, bool, DType, bool>(m, "_Autocast");
  m.def("_is_autocast_cpu", &autocast_enabled);
  m.def("_autocast_dtype", [] { return dtype_object(autocast_state().dtype); });
  m.def("clear_autocast_cache", &clear_autocast_cache);
  m.def("_set_anomaly", [](bool on, bool check_nan) {
    anomaly.stack = &python_traceback;
    anomaly.warn = &warn;
    anomaly.check_nan = check_nan;
    anomaly.on = on;
  });
  m.def("is_anomaly_enabled", [] { return anomaly.on; });
  m.def("_register_hook", [](const Tensor& t, nb::object hook) { return register_hook(t, [hook](const Tensor& g) { return gradient_from(hook, g); }); });
  m.def("_remove_hook", &remove_hook);
  m.def("_register_after_accumulate", [](const Tensor& t, nb::object hook) { return register_after_accumulate(t, [hook](const Tensor& g) { hook(wrap(g)); }); });
  m.def("_retain_grad", &retain_grad);
  m.def("_retains_grad", [](const Tensor& t) { return grad_meta(t) && grad_meta(t)->retained; });
  m.def("_run_backward", &run_backward, nb::arg("roots"), nb::arg("grads"), nb::arg("keep_graph"), nb::arg("create_graph"), nb::arg("inputs").none());
  m.def("_gradients", &run_gradients);
}

}  // namespace peel::core::python
