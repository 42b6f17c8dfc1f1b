// torch._C._functorch: what torch.func, written in Python, needs of the engine.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "core/dispatch/error.h"
#include "core/functorch/batching.h"
#include "core/functorch/layers.h"
#include "core/functorch/levels.h"
#include "core/functorch/wrappers.h"
#include "core/python/autograd.h"
#include "core/python/tensor_object.h"

namespace peel::core::python {
namespace {

using namespace functorch;

Randomness randomness_named(const std::string& name) {
  if (name == "error") return Randomness::kError;
  if (name == "same") return Randomness::kSame;
  if (name == "different") return Randomness::kDifferent;
  throw Error("randomness argument must be error, same, or different.");
}

// with _Lowered(): the innermost level is out of the way.
class Lowered {
 public:
  void enter() { layer_ = take_innermost(); }
  void leave(const nb::args&) {
    put_back(std::move(*layer_));
    layer_.reset();
  }

 private:
  std::optional<Layer> layer_;
};

nb::object innermost() {
  if (layers().empty()) return nb::none();
  const Layer& l = layers().back();
  static constexpr const char* kinds[] = {"vmap", "grad", "jvp"};
  static constexpr const char* randomness[] = {"error", "same", "different"};
  return nb::make_tuple(kinds[static_cast<int>(l.transform)], l.level, l.batch_size, randomness[static_cast<int>(l.randomness)]);
}

}  // namespace

void bind_functorch(nb::module_& module) {
  nb::module_ m = module.def_submodule("_functorch");
  m.def("_add_batch_dim", &add_batch_dim);
  m.def("_remove_batch_dim", &remove_batch_dim);
  m.def("_wrap_for_grad", &wrap_for_grad);
  m.def("_unwrap_for_grad", &unwrap_for_grad);
  m.def("_vmap_increment_nesting", [](int64_t batch_size, const std::string& randomness) { return push_vmap(batch_size, randomness_named(randomness)); });
  m.def("_grad_increment_nesting", &push_grad);
  m.def("_jvp_increment_nesting", &push_jvp);
  for (const char* name : {"_vmap_decrement_nesting", "_grad_decrement_nesting", "_jvp_decrement_nesting"}) m.def(name, &pop_layer);
  nb::class_<Lowered>(m, "_Lowered").def(nb::init<>()).def("__enter__", &Lowered::enter).def("__exit__", &Lowered::leave);
  m.def("_innermost", &innermost);
  m.def("_unwrap_batched", [](const Tensor& t, int64_t level) {
    const BatchWrapping* b = batch_wrapping(t);
    if (!b || b->level != level) return nb::make_tuple(wrap(t), nb::none());
    return nb::make_tuple(wrap(b->value), b->dim);
  });
  m.def("is_batchedtensor", [](const Tensor& t) { return batch_wrapping(t) != nullptr; });
  m.def("is_gradtrackingtensor", [](const Tensor& t) { return grad_wrapping(t) != nullptr; });
  m.def("is_functorch_wrapped_tensor", [](const Tensor& t) { return unwrapped(t).object() != t.object(); });
  m.def("is_functionaltensor", [](const Tensor&) { return false; });
  m.def("is_dead_tensor_wrapper", [](const Tensor& t) { return level_of(t) == -2; });
  m.def("get_unwrapped", [](const Tensor& t) { return unwrapped(t); });
  m.def("maybe_get_level", &level_of);
  m.def("maybe_get_bdim", [](const Tensor& t) { return batch_wrapping(t) ? batch_wrapping(t)->dim : -1; });
  m.def("maybe_current_level", [] { return layers().empty() ? std::optional<int64_t>() : std::optional<int64_t>(layers().back().level); });
  m.def("set_inplace_requires_grad_allowed", [](bool on) { requires_grad_allowed() = on; });
  m.def("get_inplace_requires_grad_allowed", [] { return requires_grad_allowed(); });
  m.def("_set_vmap_fallback_warning_enabled", [](bool on) { fallback_settings().warns = on; });
  m.def("_is_vmap_fallback_warning_enabled", [] { return fallback_settings().warns; });
  m.def("_set_vmap_fallback_enabled", [](bool on) { fallback_settings().enabled = on; });
  m.def("_is_vmap_fallback_enabled", [] { return fallback_settings().enabled; });
}

}  // namespace peel::core::python
