#include "core/python/library.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/dispatch/error.h"
#include "core/dispatch/key_sets.h"
#include "core/dispatch/library.h"
#include "core/python/arguments.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

struct KeySet {
  DispatchKeySet set;
};

DispatchKey key_named(const std::string& name) {
  if (const auto k = parse_dispatch_key(name)) return *k;
  throw Error("could not parse dispatch key: " + name);
}

}  // namespace

void push_python_result(Stack* stack, const std::vector<Argument>& returns, nb::handle result) {
  if (returns.empty()) return;
  if (returns.size() == 1) return stack->push_back(box(result));
  if (!PyTuple_Check(result.ptr()) || nb::len(result) != returns.size()) {
    throw Error("a kernel written in Python must return a tuple of " + std::to_string(returns.size()));
  }
  for (nb::handle one : nb::borrow<nb::tuple>(result)) stack->push_back(box(one));
}

// A Python number that became a tensor is one again.
nb::object python_value(const IValue& v, const Type& type) {
  if (v.tag() != IValue::Tag::kTensor) return unbox(v, type);
  const Tensor t(v.to_tensor().release());
  return t.defined() && t.impl().wrapped_number ? nb::module_::import_("torch._C").attr("_values")(wrap(t)) : unbox(v, type);
}

std::pair<nb::tuple, nb::dict> python_arguments(const FunctionSchema& s, const Stack& stack) {
  const std::vector<Argument>& schema = s.arguments;
  const size_t first = stack.size() - schema.size();
  size_t last = schema.size();
  const auto usual = [&](size_t i) { return schema[i].default_value && *schema[i].default_value == stack[first + i]; };
  while (last > 0 && (schema[last - 1].keyword_only || usual(last - 1))) --last;
  nb::list positional;
  nb::dict keywords;
  for (size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].keyword_only) {
      if (!usual(i)) keywords[schema[i].name.c_str()] = python_value(stack[first + i], schema[i].type);
    } else if (i < last) {
      positional.append(python_value(stack[first + i], schema[i].type));
    }
  }
  return {nb::tuple(positional), keywords};
}

namespace {

void run_python(const nb::object& function, bool with_keys, const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
  auto [positional, keywords] = python_arguments(op.schema(), *stack);
  if (with_keys) positional = nb::steal<nb::tuple>(PySequence_Concat(nb::make_tuple(nb::cast(KeySet{set})).ptr(), positional.ptr()));
  drop(stack, op.schema().arguments.size());
  const nb::object result = nb::steal(PyObject_Call(function.ptr(), positional.ptr(), keywords.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  push_python_result(stack, op.schema().returns, result);
}

// Each as (name, type, its default in a tuple of one or none, keyword only, whether it shares memory, whether that is written).
nb::list described(const std::vector<Argument>& values) {
  nb::list out;
  for (const Argument& a : values) {
    const nb::object usual = a.default_value ? nb::object(nb::make_tuple(unbox(*a.default_value, a.type))) : nb::none();
    const std::optional<AliasInfo>& shared = a.alias ? a.alias : a.element_alias;
    out.append(nb::make_tuple(a.name, a.type.text(), usual, a.keyword_only, shared.has_value(), shared && shared->write));
  }
  return out;
}

KernelFunction python_kernel(nb::object function, bool with_keys) {
  // Kernels are kept as long as the process: what the function holds isn't let go either.
  return boxed_kernel([function = function.release().ptr(), with_keys](const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
    run_python(nb::borrow(function), with_keys, op, set, stack);
  });
}

class PythonLibrary {
 public:
  PythonLibrary(const std::string& kind, std::string space, const std::string& key, const std::string& file, int line)
      : file_(file), library_(kind == "DEF" ? Library::Kind::kDef : kind == "FRAGMENT" ? Library::Kind::kFragment : Library::Kind::kImpl,
                              kind == "IMPL" && space == "_" ? "_" : std::move(space), key.empty() ? std::nullopt : std::optional(key_named(key)), file_.c_str(), line) {}
  PythonLibrary(const PythonLibrary&) = delete;
  PythonLibrary& operator=(const PythonLibrary&) = delete;
  void define(const std::string& schema) { library_.def(schema); }
  void impl(const std::string& name, const std::string& key, nb::object function, bool with_keys) {
    library_.impl(name, function.is_none() ? KernelFunction::fallthrough() : python_kernel(std::move(function), with_keys), key.empty() ? std::nullopt : std::optional(key_named(key)));
  }
  void fallback(nb::object function, bool with_keys) {
    library_.fallback(function.is_none() ? KernelFunction::fallthrough() : python_kernel(std::move(function), with_keys));
  }
  void reset() { library_.reset(); }

 private:
  std::string file_;
  Library library_;
};

}  // namespace

void bind_library(nb::module_& m) {
  nb::class_<KeySet>(m, "DispatchKeySet")
      .def("__repr__", [](const KeySet& k) { return to_string(k.set); })
      .def("has", [](const KeySet& k, const std::string& name) { return k.set.has(key_named(name)); })
      .def("raw_repr", [](const KeySet& k) { return k.set.raw(); })
      .def("__eq__", [](const KeySet& a, const KeySet& b) { return a.set == b.set; })
      .def("__and__", [](const KeySet& a, const KeySet& b) { return KeySet{a.set & b.set}; })
      .def("__or__", [](const KeySet& a, const KeySet& b) { return KeySet{a.set | b.set}; })
      .def("__sub__", [](const KeySet& a, const KeySet& b) { return KeySet{a.set - b.set}; });
  m.attr("_after_autograd_keyset") = KeySet{kAfterAutograd};
  m.attr("_after_ADInplaceOrView_keyset") = KeySet{kAfterADInplaceOrView};
  m.def("_dispatch_keys", [](const Tensor& t) { return KeySet{t.keys()}; });
  m.def("_dispatch_tls_local_include_set", [] { return KeySet{local_keys().included}; });
  m.def("_dispatch_tls_local_exclude_set", [] { return KeySet{local_keys().excluded}; });
  m.def("_dispatch_dump_table", [](const std::string& name) {
    const OperatorName n = OperatorName::parse(name);
    return Dispatcher::get().dump_table(Dispatcher::get().find_schema_or_throw(n.name, n.overload).entry());
  });
  m.def("_is_dispatch_key", [](const std::string& name) { return parse_dispatch_key(name).has_value(); });
  m.def("_storage_id", [](const Tensor& t) { return t.impl().storage ? reinterpret_cast<uintptr_t>(t.impl().storage.get()) : 0; });
  m.def("_dispatch_has_kernel_for_dispatch_key", [](const std::string& name, const std::string& key) {
    const OperatorName n = OperatorName::parse(name);
    const auto& registered = Dispatcher::get().find_schema_or_throw(n.name, n.overload).entry().registrations();
    return registered.count(key_named(key)) > 0;
  });
  nb::class_<PythonLibrary>(m, "_Library")
      .def(nb::init<const std::string&, std::string, const std::string&, const std::string&, int>())
      .def("define", &PythonLibrary::define)
      .def("impl", &PythonLibrary::impl, nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def("fallback", &PythonLibrary::fallback, nb::arg().none(), nb::arg())
      .def("reset", &PythonLibrary::reset);
  m.def("_call_operator", [](const std::string& name, const std::string& overload, bool any, nb::args a, nb::kwargs k) {
    return call_operator(name, any ? std::nullopt : std::optional(overload), std::nullopt, std::move(a), std::move(k));
  });
  m.def("_redispatch_operator", [](const std::string& name, const std::string& overload, const KeySet& keys, nb::args a, nb::kwargs k) {
    return call_operator(name, overload, keys.set, std::move(a), std::move(k));
  });
  m.def("_overloads", [](const std::string& name) {
    std::vector<std::string> out;
    for (const OperatorName& n : Dispatcher::get().names()) {
      if (n.name == name) out.push_back(n.overload);
    }
    return out;
  });
  m.def("_schema", [](const std::string& name, const std::string& overload) { return Dispatcher::get().find_schema_or_throw(name, overload).schema().text(); });
  m.def("_schema_values", [](const std::string& name, const std::string& overload) {
    const FunctionSchema& s = Dispatcher::get().find_schema_or_throw(name, overload).schema();
    return nb::make_tuple(described(s.arguments), described(s.returns));
  });
}

}  // namespace peel::core::python
