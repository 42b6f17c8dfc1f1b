// torch.autograd.Function: forward and backward are the program's, the node is the engine's.
#include "core/autograd/function.h"

#include <nanobind/stl/string.h>

#include "core/dispatch/error.h"
#include "core/python/autograd.h"
#include "core/python/tensor_object.h"

namespace peel::core::python {
namespace {

// ctx's way to its node, which owns ctx: none any more once the node is gone.
struct NodeOfContext {
  FunctionNode* node = nullptr;
};
struct Context {
  explicit Context(nb::object c) : object(std::move(c)) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { nb::cast<NodeOfContext&>(object.attr("_node")).node = nullptr; }
  nb::object object;
};

std::vector<Tensor> tensors_in(nb::handle values) {
  std::vector<Tensor> out;
  for (nb::handle v : values) {
    if (is_tensor(v)) out.push_back(tensor_of(v));
  }
  return out;
}

Gradients run_backward(const Context& context, const std::vector<size_t>& positions, size_t arguments, const std::string& name, Gradients grads) {
  nb::list given;
  for (const Tensor& g : grads) given.append(wrap(g));
  nb::object result = context.object.attr("_backward")(*nb::tuple(given));
  if (!PyTuple_Check(result.ptr())) result = nb::make_tuple(result);
  const nb::tuple gradients = nb::borrow<nb::tuple>(result);
  for (size_t i = arguments; i < nb::len(gradients); ++i) {
    if (!nb::object(gradients[i]).is_none()) arguments = 0;  // too many, and not None
  }
  if (nb::len(gradients) < arguments || arguments == 0) {
    throw Error("function " + name + " returned an incorrect number of gradients (expected " + std::to_string(nb::cast<size_t>(context.object.attr("_arguments"))) +
                ", got " + std::to_string(nb::len(gradients)) + ")");
  }
  Gradients out;
  for (const size_t p : positions) {
    const nb::object g = gradients[p];
    if (!g.is_none() && !is_tensor(g)) throw TypeError("function " + name + " returned a gradient of the type " + Py_TYPE(g.ptr())->tp_name);
    out.push_back(g.is_none() ? Tensor() : tensor_of(g));
  }
  return out;
}

nb::object apply(const std::string& name, nb::object ctx, const nb::tuple& arguments, nb::handle forward) {
  const std::vector<Tensor> inputs = tensors_in(arguments);
  std::vector<size_t> positions;
  nb::list needed;
  for (size_t i = 0; i < nb::len(arguments); ++i) {
    const nb::object a = arguments[i];
    if (is_tensor(a)) positions.push_back(i);
    needed.append(is_tensor(a) && requires_grad(tensor_of(a)));
  }
  ctx.attr("needs_input_grad") = nb::tuple(needed);
  ctx.attr("_node") = nb::cast(NodeOfContext());
  ctx.attr("_arguments") = nb::len(arguments);
  const auto context = std::make_shared<Context>(ctx);
  const Ref<FunctionNode> node = function_node(name, inputs, [context, positions, count = nb::len(arguments), name](FunctionNode&, Gradients grads) {
    return run_backward(*context, positions, count, name, std::move(grads));
  });
  nb::object result;
  {
    const GradMode off(false);
    result = forward(ctx, *arguments);
  }
  const bool several = PyTuple_Check(result.ptr());
  const nb::tuple results = several ? nb::borrow<nb::tuple>(result) : nb::make_tuple(result);
  const std::vector<Tensor> dirty = tensors_in(ctx.attr("_dirty")), plain = tensors_in(ctx.attr("_plain"));
  const std::vector<Tensor> outputs = wrap_outputs(node, inputs, tensors_in(results), dirty, plain);
  if (node) {
    nb::cast<NodeOfContext&>(ctx.attr("_node")).node = node.get();
    node->materialize_grads = nb::cast<bool>(ctx.attr("_materialize"));
    std::vector<Tensor> saved;
    for (nb::handle s : nb::object(ctx.attr("_to_save"))) saved.push_back(s.is_none() ? Tensor() : tensor_of(s));
    node->save(saved, outputs);
  }
  nb::list all;
  size_t next = 0;
  for (nb::handle r : results) {
    if (is_tensor(r)) all.append(wrap(outputs[next++]));
    else all.append(r);
  }
  return several ? nb::object(nb::tuple(all)) : nb::object(all[0]);
}

}  // namespace

void bind_function(nb::module_& m) {
  nb::class_<NodeOfContext>(m, "_NodeOfContext").def("saved", [](const NodeOfContext& c) {
    if (!c.node) throw Error("there is no node that saved tensors");
    nb::list out;
    for (const Tensor& t : c.node->saved()) out.append(wrap(t));
    return nb::tuple(out);
  });
  m.def("_apply_function", &apply);
}

}  // namespace peel::core::python
