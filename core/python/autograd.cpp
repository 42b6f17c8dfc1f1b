#include "core/python/autograd.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/autocast/autocast.h"
#include "core/autograd/anomaly.h"
#include "core/autograd/engine.h"
#include "core/autograd/special_nodes.h"
#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

struct NodeHandle {
  Ref<Node> node;
};

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

// As stock names it: nodes that no formula made have their C++ name.
std::string node_name(const Node& n) {
  const std::string name = n.name();
  for (const char* special : {"AccumulateGrad", "CopySlices", "CopyBackwards", "GraphRoot", "WarnNotImplemented"}) {
    if (name == special) return "torch::autograd::" + name;
  }
  return name;
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

nb::object node_object(Ref<Node> n) {
  if (!n) return nb::none();
  return nb::cast(NodeHandle{std::move(n)});
}

void bind_autograd(nb::module_& m) {
  nb::class_<NodeHandle>(m, "Node")
      .def("name", [](const NodeHandle& h) { return node_name(*h.node); })
      .def("__repr__", [](const NodeHandle& h) {
        char address[32];
        std::snprintf(address, sizeof address, "%p", static_cast<const void*>(h.node.get()));
        return "<" + std::string(h.node->name()) + " object at " + address + ">";
      })
      .def("__eq__", [](const NodeHandle& a, nb::handle b) { return nb::isinstance<NodeHandle>(b) && nb::cast<NodeHandle>(b).node == a.node; })
      .def("__hash__", [](const NodeHandle& h) { return reinterpret_cast<intptr_t>(h.node.get()) >> 4; })
      .def("_sequence_nr", [](const NodeHandle& h) { return h.node->sequence(); })
      .def_prop_ro("variable", [](const NodeHandle& h) -> Tensor {
        if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(h.node.get())) return leaf->variable();
        throw nb::attribute_error("variable");
      })
      .def_prop_ro("next_functions", [](const NodeHandle& h) {
        nb::list all;
        for (const Edge& e : h.node->next_edges()) all.append(nb::make_tuple(node_object(e.node), e.input));
        return nb::tuple(all);
      });
  m.def("is_grad_enabled", [] { return grad_state.grad_mode; });
  m.def("_set_grad_enabled", [](bool on) { grad_state.grad_mode = on; });
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
  m.def("_run_backward", &run_backward, nb::arg("roots"), nb::arg("grads"), nb::arg("keep_graph"), nb::arg("create_graph"), nb::arg("inputs").none());
  m.def("_gradients", &run_gradients);
}

}  // namespace peel::core::python
