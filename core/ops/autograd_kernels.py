"""Node classes, kernels at Autograd and kernels at ADInplaceOrView, in the order of steps that PyTorch's have."""
import re

# Views without a gradient.
NOT_DIFFERENTIABLE = {"detach", "_indices", "_values", "indices", "crow_indices", "col_indices", "ccol_indices", "row_indices"}
TOP = "// Generated from native_functions.yaml and derivatives.yaml.\n"


def wanted(formula, on=""):
    """Whether a formula is asked for: by anyone later (`on`: a node that is being made), or in this run of backward."""
    return " || ".join(("%sshould_compute(%d)" % (on, i) if on else "wanted(%d)" % i) for i in formula[0])


def needed_by(d, name, on=""):
    """The condition under which a kept value is of use."""
    return " || ".join(wanted(f, on) for f in d.formulas if name in f[2])


def node_apply(d):
    lines = ["std::vector<Tensor> %s::apply(std::vector<Tensor> grads) {" % d.name, "  std::vector<Tensor> out(next_edges().size());"]
    if d.all_outputs:
        lines.append("  if (!any_defined(grads)) return out;")
    else:
        lines += ["  [[maybe_unused]] const Tensor& grad = grads[0];", "  if (!grad.defined()) return out;"]
    lists = any(a.list for a in d.inputs)
    if any(kind != "value" for kind, _, _ in d.kept.values()):
        lines.append("  const NodeLock lock(*this);")
    for name, (kind, _, _) in d.kept.items():
        condition = "true" if lists else needed_by(d, name)
        if kind == "value":
            lines.append("  [[maybe_unused]] const auto& %s = %s_;" % (name, name))
        elif kind == "list":
            lines.append("  const std::vector<std::optional<Tensor>> %s = %s_.unpack();" % (name, name))
        else:
            lines.append("  const Tensor %s = %s ? %s_.unpack(%s) : Tensor();" % (name, condition, name, "this" if kind == "result" else ""))
    # Stock computes in alphabetical order of the arguments.
    for numbers, formula, used in sorted(d.formulas, key=lambda one: d.inputs[one[0][0]].name):
        if lists:
            lines += ["  std::vector<Tensor> all = %s;" % formula, "  for (size_t i = 0; i < out.size() && i < all.size(); ++i) {",
                      "    if (wanted(i)) out[i] = std::move(all[i]);", "  }"]
        elif len(numbers) == 1:
            lines.append("  if (wanted(%d)) out[%d] = %s;" % (numbers[0], numbers[0], formula))
        else:
            lines += ["  if (%s) {" % wanted((numbers, formula, used)),
                      "    [[maybe_unused]] const std::array<bool, %d> output_mask{%s};" % (len(numbers), ", ".join("wanted(%d)" % i for i in numbers)),
                      "    auto all = %s;" % formula]
            lines += ["    if (output_mask[%d]) out[%d] = std::get<%d>(all);" % (k, i, k) for k, i in enumerate(numbers)] + ["  }"]
    return "\n".join(lines) + "\n  return out;\n}\n"


def nodes(table):
    header = [TOP + '#pragma once\n#include "core/autograd/saved_variable.h"\n\nnamespace peel::core::nodes {\n']
    source = [TOP + '#include "core/autograd/formulas.h"\n#include "ops_generated/nodes.h"\n\nnamespace peel::core::nodes {\nusing namespace formulas;\n']
    for d in table.values():
        if not d.formulas:
            continue
        header.append("struct %s final : Node {\n  const char* name() const override { return \"%s\"; }\n"
                      "  std::vector<Tensor> apply(std::vector<Tensor> grads) override;\n  void release() override;\n"
                      "  std::vector<KeptTensor> kept_tensors() const override;\n" % (d.name, d.name))
        types = {"value": None, "list": "SavedList"}
        for name, (kind, cpp, _) in d.kept.items():
            header.append("  %s %s_{};\n" % (types.get(kind, "SavedVariable") or cpp, name))
        header.append("};\n")
        tensors = [n for n, (kind, _, _) in d.kept.items() if kind != "value"]
        body = "".join("  %s_.release();\n" % n for n in tensors)
        source.append("void %s::release() {\n%s}\n" % (d.name, body and "  const NodeLock lock(*this);\n" + body))
        kept = ['{"%s", &%s_, %s}' % (n, n, "true" if kind == "result" else "false") for n, (kind, _, _) in d.kept.items() if kind in ("tensor", "result")]
        source.append("std::vector<KeptTensor> %s::kept_tensors() const { return {%s}; }\n" % (d.name, ", ".join(kept)))
        source.append(node_apply(d))
    end = "}  // namespace peel::core::nodes\n"
    return "".join(header) + end, "".join(source) + end


def derivative_of(f, table):
    """Its own entry, or that of the functional form for an in-place operator."""
    own = table.get(f.full)  # entries for a key alone stand under other names
    if own or not f.inplace:
        return own
    shape = [(a.type, a.list, a.optional) for a in f.arguments]
    for d in table.values():
        if d.function.base == f.base[:-1] and [(a.type, a.list, a.optional) for a in d.function.arguments] == shape:
            return d
    return None


def autograd(functions, table):
    out = [TOP + '#include "core/autograd/formulas.h"\n#include "core/autograd/forward.h"\n#include "core/autograd/manual.h"\n#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n'
           '#include "ops_generated/nodes.h"\n#include "ops_generated/ops.h"\n\nnamespace peel::core {\nnamespace {\nnamespace autograd {\nusing namespace formulas;\n']
    registered, at_nested = [], []
    for f in functions:
        if f.implicit and not ("NestedTensorCPU" in f.dispatch and derivative_of(f, table)):
            continue
        registered.append('  m.impl("%s", kernel_of(&%s::%s));\n' % (f.full, "manual" if f.manual else "autograd", f.id if f.manual else "of_" + f.id))
        if not f.manual:
            out.append(autograd_kernel(f, derivative_of(f, table)))
        nested = table.get(f.full + " at AutogradNestedTensor")
        if nested:
            out.append(autograd_kernel(f, nested, "nested_of_"))
            at_nested.append('  m.impl("%s", kernel_of(&autograd::nested_of_%s));\n' % (f.full, f.id))
    out.append("}  // namespace autograd\n}  // namespace\n\nvoid register_autograd(Library& m) {\n")
    return "".join(out) + "".join(registered) + "}\nvoid register_autograd_of_nested(Library& m) {\n" + "".join(at_nested) + "}\n}  // namespace peel::core\n"


def kept_value(f, kind, expression):
    if kind == "list":
        return "SavedList(%s)" % expression
    if kind == "tensor":
        # What is about to be written is kept as it was.
        return "SavedVariable(%s%s)" % (expression, ".defined() ? ops::clone::call(self, {}) : Tensor()" if f.inplace and expression == "self" else "")
    return "kept(%s)" % expression


def autograd_kernel(f, d, prefix="of_"):
    lines = ["%s %s%s(DispatchKeySet keys_%s) {" % (f.result, prefix, f.id, f.arguments and ", " + f.parameters() or "")]
    differentiable = ", ".join(a.name for a in d.inputs) if d else ""
    gives_tensor = "Tensor" in f.result
    forward = bool(d and d.formulas) and not f.out
    makes_node = bool(d and d.formulas) and gives_tensor and not f.out
    unknown = not (d and (d.formulas or d.not_differentiable)) and gives_tensor and not f.out
    if unknown:
        differentiable = ", ".join(a.name for a in f.arguments if a.tensor)
    if f.out:
        tensors = ", ".join(a.name for a in f.arguments if a.tensor and not a.written)
        lines.append('  refuse_out("%s", %s, %s);' % (f.base, f.written[-1].name, "needs_grad(%s)" % tensors if tensors else "false"))
    if makes_node or unknown and differentiable:
        condition = " && (%s)" % d.condition if d and d.condition else ""
        lines.append("  const bool any_ = needs_grad(%s)%s;" % (differentiable, condition))
        if f.inplace:
            lines.append("  check_in_place(self, any_);")
        lines.append("  Ref<%s> node_;" % ("nodes::" + d.name if makes_node else "NotImplementedNode"))
        lines.append("  if (any_) {")
        lines.append("    node_ = make_node<nodes::%s>();" % d.name if makes_node else '    node_ = make_node<NotImplementedNode>("%s");' % f.base)
        lines.append("    node_->set_next_edges(next_edges(%s));" % differentiable)
        for name, (kind, _, expression) in (d.kept.items() if makes_node else ()):
            if kind == "result" or kind == "value" and expression.endswith("(result)"):
                continue
            condition = "true" if any(a.list for a in d.inputs) else needed_by(d, name, "node_->")
            lines.append("    if (%s) node_->%s_ = %s;" % (condition, name, kept_value(f, kind, expression)))
        lines.append("  }")
    if forward:
        lines.append("  const bool tangents_ = any_tangent(%s);" % differentiable)
        lines += forward_inputs(f, d, before=True)
    below = "BelowAutograd" if f.written or f.viewed and f.has_view_kernel else "BelowADInplaceOrView"
    call = "ops::%s::redispatch(keys_ & kAfterAutograd%s)" % (f.id, f.arguments and ", " + f.names or "")
    if f.result == "void":
        lines.append("  %s below_;\n  %s;" % (below, call))
    elif f.written:
        lines.append("  {\n    %s below_;\n    %s;\n  }" % (below, call))
    else:
        lines.append("  %s result = [&] {\n    %s below_;\n    return %s;\n  }();" % (f.result, below, call))
    target = "result" if not f.written else f.written[0].name if len(f.returned) == 1 else "{%s}" % ", ".join(a.name for a in f.written)
    if makes_node or unknown and differentiable:
        history = "set_history_all" if makes_node and d.all_outputs or unknown else "set_history"
        first = "std::get<0>(result)" if f.result.startswith("std::tuple") and history == "set_history" else target
        if makes_node and d.outputs:
            first = "std::tie(%s)" % ", ".join("std::get<%d>(result)" % i for i in d.outputs)
        lines.append("  if (node_) {\n    %s(%s, node_);" % ("rebase_history" if f.inplace else history, first))
        for name, (kind, _, expression) in (d.kept.items() if makes_node else ()):
            if kind == "result":
                lines.append("    node_->%s_ = SavedVariable(%s, SavedVariable::kOutput);" % (name, target if expression == "result" else expression))
        lines.append("  }")
    if forward:
        lines += forward_results(f, d, target)
    if f.result != "void":
        lines.append("  return %s;" % target)
    return "\n".join(lines) + "\n}\n"


def forward_inputs(f, d, before):
    """Tangents and primals that the formulas name. Of a tensor that is written the primal is taken before."""
    tangents, primals = [], []
    for a in d.inputs:
        used = [kind for kind in "tp" if any(re.search(r"\b%s_%s\b" % (a.name, kind), text) for text in d.forward.values())]
        written = f.inplace and a.name == "self"
        if "p" in used and before and written:
            primals.append("  Tensor self_p;\n  if (tangents_) self_p = ops::clone::call(primal_of(self), {});")
        if "p" in used and not before and not written:
            primals.append("    const auto %s_p = primal_of(%s);" % (a.name, a.name))
        if "t" in used and not before:
            tangents.append("    const Tensor %s_t = tangent_or_zeros(%s);" % (a.name, a.name))
    return tangents + primals


def forward_results(f, d, target):
    if not d.forward:
        return ['  if (tangents_) no_forward_derivative("%s");' % f.base]
    lines = ["  if (tangents_) {"] + forward_inputs(f, d, before=False)
    names = d.function.result_names
    if f.inplace:
        lines.append("    [[maybe_unused]] const Tensor& result = self;")
    for name, formula in d.forward.items():
        to = target if len(names) == 1 or f.inplace else "std::get<%d>(result)" % names.index(name)
        lines.append("    set_tangent(%s, %s%s);" % (to, formula, ", true" if f.inplace else ""))
    return lines + ["  }"]


def in_place_or_view(functions):
    out = [TOP + '#include "core/autograd/history.h"\n#include "core/autograd/manual.h"\n#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n#include "ops_generated/ops.h"\n\n'
           "namespace peel::core {\nnamespace {\nnamespace in_place_or_view {\n"]
    registered = []
    for f in functions:
        if not f.has_view_kernel or f.base == "detach_" or not (f.written or f.viewed) or any(a.list for a in f.written):
            # detach_ falls through here, and what writes to a list (measured)
            continue
        registered.append('  m.impl("%s", kernel_of(&in_place_or_view::%s));\n' % (f.full, f.id))
        call = "ops::%s::redispatch(keys_ & kAfterADInplaceOrView, %s)" % (f.id, f.names)
        out.append("%s %s(DispatchKeySet keys_, %s) {\n" % (f.result, f.id, f.parameters()))
        if f.written:
            out.append("  {\n    BelowADInplaceOrView below_;\n    %s;\n  }\n" % call)
            out += ["  %s.impl().bump_version();\n" % a.name for a in f.written]
            out.append("  return %s;\n}\n" % (f.written[0].name if len(f.returned) == 1 else "{%s}" % ", ".join(a.name for a in f.written)))
        else:
            out.append("  auto result = [&] {\n    BelowADInplaceOrView below_;\n    return %s;\n  }();\n  return as_view(%s, std::move(result), %s);\n}\n"
                       % (call, f.viewed.name, "ViewKind::kNotDifferentiable" if f.base in NOT_DIFFERENTIABLE or f.full == "view.dtype" else "ViewKind::kDifferentiable"))
    out.append("}  // namespace in_place_or_view\n}  // namespace\n\nvoid register_in_place_or_view(Library& m) {\n")
    return "".join(out) + "".join(registered) + "}\n}  // namespace peel::core\n"
