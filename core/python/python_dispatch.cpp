// torch.utils._python_dispatch: modes, written in Python, that handle every call below autograd. As stock does it: a mode puts two keys into the thread's
// sets. At the upper one (PythonTLSSnapshot) the sets are kept as the program had them, at the lower one (Python) the innermost mode is called under them.
#include <nanobind/stl/string.h>

#include "core/autograd/saved_variable.h"
#include "core/dispatch/error.h"
#include "core/dispatch/library.h"
#include "core/python/library.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

struct Modes {
  std::vector<nb::object> stack;  // the innermost last
  std::optional<LocalKeys> at_entry;
};
Modes& modes() {
  thread_local Modes& all = *new Modes;  // not freed: Python may be gone when the thread ends
  return all;
}

void update_keys() {
  for (const DispatchKey k : {DispatchKey::Python, DispatchKey::PythonTLSSnapshot}) set_key_included(k, !modes().stack.empty());
}

void take_snapshot(const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
  Modes& m = modes();
  const std::optional<LocalKeys> before = m.at_entry;
  if (!before) m.at_entry = local_keys();
  struct Back {
    Modes& m;
    const std::optional<LocalKeys>& before;
    ~Back() { m.at_entry = before; }
  } back{m, before};
  op.redispatch_boxed(set & DispatchKeySet::full_after(DispatchKey::PythonTLSSnapshot), stack);
}

// While the innermost mode handles a call, those around it are in force.
class WithoutInnermost {
 public:
  explicit WithoutInnermost(Modes& m) : modes_(m), mode_(m.stack.back()) {
    m.stack.pop_back();
    update_keys();
  }
  ~WithoutInnermost() {
    modes_.stack.push_back(mode_);
    update_keys();
  }
  WithoutInnermost(const WithoutInnermost&) = delete;
  WithoutInnermost& operator=(const WithoutInnermost&) = delete;
  const nb::object& mode() const { return mode_; }

 private:
  Modes& modes_;
  nb::object mode_;
};

void ask_mode(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  Modes& m = modes();
  if (m.stack.empty()) throw Error("a call of " + op.name().text() + " came to the key Python without a mode");
  const std::optional<LocalKeys> entry = std::exchange(m.at_entry, std::nullopt);
  struct Back {
    Modes& m;
    const std::optional<LocalKeys>& entry;
    ~Back() { m.at_entry = entry; }
  } back{m, entry};
  const ForceKeys as_entered(entry.value_or(local_keys()));
  const KeyModeGuard handler(KeyMode::kPythonHandler);
  const WithoutInnermost outer(m);
  const auto [arguments, keywords] = python_arguments(op.schema(), *stack);
  drop(stack, op.schema().arguments.size());
  const nb::object function = nb::module_::import_("torch._ops").attr("overload")(op.name().name, op.name().overload);
  const nb::object result = outer.mode().attr("__torch_dispatch__")(function, nb::tuple(), arguments, keywords);
  if (result.ptr() == Py_NotImplemented) {
    throw TypeError("Multiple dispatch failed for '" + nb::cast<std::string>(nb::str(function)) + "'; all __torch_dispatch__ handlers returned NotImplemented:\n");
  }
  push_python_result(stack, op.schema().returns, result);
}

Tensor detached_by_mode(const Tensor& t) {
  Modes& m = modes();
  if (m.stack.empty() || local_keys().excluded.has(DispatchKey::Python)) return {};
  const nb::gil_scoped_acquire gil;
  const WithoutInnermost outer(m);
  const nb::object function = nb::module_::import_("torch._ops").attr("overload")("aten::detach", "");
  const nb::object result = outer.mode().attr("__torch_dispatch__")(function, nb::tuple(), nb::make_tuple(wrap(t)), nb::dict());
  if (!is_tensor(result)) throw TypeError("Expected a tensor from torch_dispatch.detach, but got " + std::string(Py_TYPE(result.ptr())->tp_name));
  return tensor_of(result);
}

}  // namespace

void bind_python_dispatch(nb::module_& m) {
  // Kept for good, as the kernels of operators are.
  static auto& fallbacks = *new std::vector<Library>;
  fallbacks.reserve(2);
  for (const auto& [key, function] : {std::pair(DispatchKey::Python, &ask_mode), std::pair(DispatchKey::PythonTLSSnapshot, &take_snapshot)}) {
    fallbacks.emplace_back(Library::Kind::kImpl, "_", key, __FILE__, __LINE__).fallback(boxed_kernel(function));
  }
  set_data_copy(&detached_by_mode);
  m.def("_push_dispatch_mode", [](nb::object mode) {
    modes().stack.push_back(std::move(mode));
    update_keys();
  });
  m.def("_pop_dispatch_mode", [] {
    const nb::object mode = modes().stack.back();
    modes().stack.pop_back();
    update_keys();
    return mode;
  });
  m.def("_dispatch_modes", [] {
    nb::list all;
    for (const nb::object& mode : modes().stack) all.append(mode);
    return all;
  });
}

}  // namespace peel::core::python
