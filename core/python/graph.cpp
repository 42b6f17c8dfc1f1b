// Nodes of the graph as objects of Python, what a program hangs on them, and its hooks on the tensors that they keep.
#include <nanobind/stl/string.h>

#include <map>

#include "core/autograd/engine.h"
#include "core/autograd/function.h"
#include "core/autograd/saved_variable.h"
#include "core/autograd/special_nodes.h"
#include "core/dispatch/error.h"
#include "core/python/autograd.h"
#include "core/python/tensor_object.h"

namespace peel::core::python {
namespace {

struct NodeHandle {
  Ref<Node> node;
};

}  // namespace

std::string node_name(const Node& n) {
  const std::string name = n.name();
  for (const char* special : {"AccumulateGrad", "CopySlices", "CopyBackwards", "GraphRoot", "WarnNotImplemented"}) {
    if (name == special) return "torch::autograd::" + name;
  }
  return name;
}

namespace {

// Each kind of node is a class of its own.
nb::handle class_of(const Node& n) {
  static auto& classes = *new std::map<std::string, nb::object>;
  nb::object& known = classes[n.name()];
  if (!known.is_valid()) {
    nb::dict members;
    members["__module__"] = dynamic_cast<const FunctionNode*>(&n) ? "torch.autograd.function" : "builtins";
    known = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(nb::str(n.name()), nb::make_tuple(nb::type<NodeHandle>()), members);
  }
  return known;
}

std::string text_of(const NodeHandle& h) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(h.node.get()));
  const char* module = dynamic_cast<const FunctionNode*>(h.node.get()) ? "torch.autograd.function." : "";
  return std::string("<") + module + h.node->name() + " object at " + address + ">";
}

nb::tuple tuple_of(const Gradients& grads) {
  nb::list all;
  for (const Tensor& g : grads) all.append(wrap(g));
  return nb::tuple(all);
}

// A hook gives nothing, or as many gradients as there were.
Gradients replaced(const nb::object& hook, const nb::object& result, Gradients before) {
  if (result.is_none()) return before;
  const nb::tuple given = PyTuple_Check(result.ptr()) ? nb::borrow<nb::tuple>(result) : nb::make_tuple(result);
  const auto name = nb::cast<std::string>(nb::str(nb::hasattr(hook, "__name__") ? nb::object(hook.attr("__name__")) : nb::object(nb::str("<unknown>"))));
  if (nb::len(given) != before.size()) {
    throw Error("hook '" + name + "' has returned an incorrect number of values (got " + std::to_string(nb::len(given)) + ", but expected " + std::to_string(before.size()) + ")");
  }
  Gradients out;
  for (size_t i = 0; i < before.size(); ++i) {
    const nb::object one = given[i];
    if (!one.is_none() && !is_tensor(one)) throw TypeError("hook '" + name + "' has changed the type of value (was torch.Tensor got " + Py_TYPE(one.ptr())->tp_name + ")");
    if (!before[i].defined() && !one.is_none()) throw Error("can't replace a None gradient with a non-None value");
    out.push_back(one.is_none() ? Tensor() : tensor_of(one));
  }
  return out;
}

Pack python_pack(nb::object pack, nb::object unpack) {
  return [pack, unpack](const Tensor& t) -> Unpack {
    nb::object kept = pack(wrap(t));
    return [unpack, kept]() -> Tensor {
      const nb::object given = unpack(kept);
      if (!is_tensor(given)) {
        throw TypeError(std::string("Output of saved tensor unpack_hook expected to be a Tensor but got result of type ") + Py_TYPE(given.ptr())->tp_name);
      }
      return tensor_of(given);
    };
  };
}

// `_saved_self`: what the node keeps under that name.
nb::object kept_tensor(const NodeHandle& h, const std::string& name) {
  constexpr std::string_view kStart = "_saved_";
  if (name.starts_with(kStart)) {
    for (const KeptTensor& k : h.node->kept_tensors()) {
      if (name.substr(kStart.size()) == k.name) return wrap(k.variable->unpack(k.output ? h.node.get() : nullptr));
    }
  }
  throw nb::attribute_error(("'" + std::string(h.node->name()) + "' object has no attribute '" + name + "'").c_str());
}

// A dictionary that stays with the node, whatever object stands for it.
nb::object metadata_of(const NodeHandle& h) {
  std::shared_ptr<void>& kept = h.node->companion;
  if (!kept) kept = std::make_shared<nb::dict>();
  return *static_cast<nb::dict*>(kept.get());
}

struct Saved {
  SavedVariable variable;
};

}  // namespace

nb::object node_object(Ref<Node> n) {
  if (!n) return nb::none();
  nb::object out = nb::inst_alloc(class_of(*n));
  new (nb::inst_ptr<NodeHandle>(out)) NodeHandle{std::move(n)};
  nb::inst_mark_ready(out);
  return out;
}

void bind_graph(nb::module_& m) {
  nb::class_<NodeHandle>(m, "Node")
      .def("name", [](const NodeHandle& h) { return node_name(*h.node); })
      .def("__repr__", &text_of)
      .def("__eq__", [](const NodeHandle& a, nb::handle b) { return nb::isinstance<NodeHandle>(b) && nb::cast<NodeHandle&>(b).node == a.node; })
      .def("__hash__", [](const NodeHandle& h) { return reinterpret_cast<intptr_t>(h.node.get()) >> 4; })
      .def("__getattr__", &kept_tensor)
      .def_prop_ro("metadata", &metadata_of)
      .def("_sequence_nr", [](const NodeHandle& h) { return h.node->sequence(); })
      .def("_on_inputs", [](const NodeHandle& h, nb::object hook) {
        return h.node->hooks().before.add([hook](Gradients grads) {
          const nb::object result = hook(tuple_of(grads));
          return replaced(hook, result, std::move(grads));
        });
      })
      .def("_on_outputs", [](const NodeHandle& h, nb::object hook) {
        return h.node->hooks().after.add([hook](Gradients out, const Gradients& in) {
          const nb::object result = hook(tuple_of(out), tuple_of(in));
          return replaced(hook, result, std::move(out));
        });
      })
      .def("_take_away", [](const NodeHandle& h, uint64_t id) {
        h.node->hooks().before.remove(id);
        h.node->hooks().after.remove(id);
      })
      .def_prop_ro("variable", [](const NodeHandle& h) -> Tensor {
        if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(h.node.get())) return leaf->variable();
        throw nb::attribute_error("variable");
      })
      .def_prop_ro("next_functions", [](const NodeHandle& h) {
        nb::list all;
        for (const Edge& e : h.node->next_edges()) all.append(nb::make_tuple(node_object(e.node), e.input));
        return nb::tuple(all);
      });
  nb::class_<Saved>(m, "SavedTensor").def("unpack", [](const Saved& s) { return s.variable.unpack(); });
  m.def("_make_saved_tensor", [](const Tensor& t) { return Saved{SavedVariable(t)}; });
  m.def("_push_saved_tensors_hooks", [](nb::object pack, nb::object unpack) { saved_tensor_hooks().push_back(python_pack(std::move(pack), std::move(unpack))); });
  m.def("_pop_saved_tensors_hooks", [] { saved_tensor_hooks().pop_back(); });
  m.def("_count_saved_tensors_hooks", [] { return saved_tensor_hooks().size(); });
  m.def("_current_graph_task_id", &current_graph_task);
  m.def("_queue_callback", [](nb::object callback) { queue_callback([callback] { callback(); }); });
  m.def("_take_sequence_number", &Node::next_sequence);
  m.def("_will_engine_execute_node", [](const NodeHandle& h) { return will_run(*h.node); });
  m.def("_gradient_edge", [](const Tensor& t) {
    const Edge e = gradient_edge(t);
    return nb::make_tuple(node_object(e.node), e.input);
  });
  m.def("_bump_version", [](const Tensor& t) { t.impl().bump_version(); });
  m.def("_remove_after_accumulate", [](const Tensor& t, uint64_t id) { make_grad_meta(t).after_accumulate.remove(id); });
}

}  // namespace peel::core::python
