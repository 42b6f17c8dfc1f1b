"""Node classes, kernels at Autograd and kernels at ADInplaceOrView, in the order of steps that PyTorch's have."""
TOP = "// Generated from native_functions.yaml and derivatives.yaml.\n"


def nodes(table):
    header = [TOP + '#pragma once\n#include "core/autograd/formulas.h"\n#include "core/autograd/saved_variable.h"\n\nnamespace peel::core::nodes {\n']
    source = [TOP + '#include "ops_generated/nodes.h"\n\nnamespace peel::core::nodes {\nusing namespace formulas;\n']
    for d in table.values():
        if not d.formulas:
            continue
        header.append("struct %s final : Node {\n  const char* name() const override { return \"%s\"; }\n"
                      "  std::vector<Tensor> apply(std::vector<Tensor> grads) override;\n  void release() override;\n" % (d.name, d.name))
        for name, (kind, cpp, _) in d.kept.items():
            header.append("  %s %s_{};\n" % (cpp if kind == "value" else "SavedVariable", name))
        header.append("};\n")
        tensors = [n for n, (kind, _, _) in d.kept.items() if kind != "value"]
        source.append("void %s::release() {\n%s}\n" % (d.name, "".join("  %s_.release();\n" % n for n in tensors)))
        source.append("std::vector<Tensor> %s::apply(std::vector<Tensor> grads) {\n  std::vector<Tensor> out(%d);\n  const Tensor& grad = grads[0];\n"
                      "  if (!grad.defined()) return out;\n" % (d.name, len(d.formulas)))
        for name, (kind, _, _) in d.kept.items():
            uses = [i for i, (_, _, used) in enumerate(d.formulas) if name in used]
            condition = " || ".join("should_compute(%d)" % i for i in uses)
            if kind == "value":
                source.append("  [[maybe_unused]] const auto& %s = %s_;\n" % (name, name))
            else:
                source.append("  const Tensor %s = %s ? %s_.unpack(%s) : Tensor();\n" % (name, condition, name, "this" if kind == "result" else ""))
        # Stock computes in alphabetical order of the arguments.
        for i, (_, formula, _) in sorted(enumerate(d.formulas), key=lambda one: one[1][0].name):
            source.append("  if (should_compute(%d)) out[%d] = %s;\n" % (i, i, formula))
        source.append("  return out;\n}\n")
    end = "}  // namespace peel::core::nodes\n"
    return "".join(header) + end, "".join(source) + end


def derivative_of(f, table):
    """Its own entry, or that of the functional form for an in-place operator."""
    own = table.get(f.full)
    if own or not f.inplace:
        return own
    return table.get(f.base[:-1] + ("." + f.overload if f.overload else ""))


def autograd(functions, table):
    out = [TOP + '#include "core/autograd/history.h"\n#include "core/autograd/manual.h"\n#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n'
           '#include "ops_generated/nodes.h"\n#include "ops_generated/ops.h"\n\nnamespace peel::core {\nnamespace {\nnamespace autograd {\n']
    registered = []
    for f in functions:
        if f.implicit:
            continue
        registered.append('  m.impl("%s", kernel<&%s::%s>());\n' % (f.full, "manual" if f.manual else "autograd", f.id))
        if not f.manual:
            out.append(autograd_kernel(f, derivative_of(f, table)))
    out.append("}  // namespace autograd\n}  // namespace\n\nvoid register_autograd(Library& m) {\n")
    return "".join(out) + "".join(registered) + "}\n}  // namespace peel::core\n"


def autograd_kernel(f, d):
    formulas = d.formulas if d else []
    lines = ["%s %s(DispatchKeySet keys_%s) {" % (f.result, f.id, f.arguments and ", " + f.parameters())]
    differentiable = ", ".join(a.name for a, _, _ in formulas)
    gives_tensor = f.result in ("Tensor", "Tensor&")
    makes_node = bool(formulas) and gives_tensor and not f.out
    unknown = not formulas and gives_tensor and not (d and d.not_differentiable) and not f.out
    if unknown:
        formulas = []
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
            uses = [i for i, (_, _, used) in enumerate(formulas) if name in used]
            condition = " || ".join("node_->should_compute(%d)" % i for i in uses)
            if kind == "tensor":
                # What is about to be written is kept as it was.
                value = "SavedVariable(%s%s)" % (expression, ".defined() ? ops::clone::call(self, {}) : Tensor()" if f.inplace and name == "self" else "")
            else:
                value = "kept(%s)" % expression
            lines.append("    if (%s) node_->%s_ = %s;" % (condition, name, value))
        lines.append("  }")
    below = "BelowAutograd" if f.written or f.viewed else "BelowADInplaceOrView"
    call = "ops::%s::redispatch(keys_ & kAfterAutograd%s)" % (f.id, f.arguments and ", " + f.names)
    if f.result == "void":
        lines.append("  %s below_;\n  %s;" % (below, call))
    elif f.written:
        lines.append("  {\n    %s below_;\n    %s;\n  }" % (below, call))
    else:
        lines.append("  %s result = [&] {\n    %s below_;\n    return %s;\n  }();" % (f.result, below, call))
    target = f.written[0].name if f.written else "result"
    if makes_node or unknown and differentiable:
        lines.append("  if (node_) {\n    %s(%s, node_);" % ("rebase_history" if f.inplace else "set_history", target))
        if makes_node and "result" in d.kept:
            lines.append("    node_->result_ = SavedVariable(%s, SavedVariable::kOutput);" % target)
        lines.append("  }")
    if f.result != "void":
        lines.append("  return %s;" % target)
    return "\n".join(lines) + "\n}\n"


def in_place_or_view(functions):
    out = [TOP + '#include "core/autograd/history.h"\n#include "core/autograd/manual.h"\n#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n#include "ops_generated/ops.h"\n\n'
           "namespace peel::core {\nnamespace {\nnamespace in_place_or_view {\n"]
    registered = []
    for f in functions:
        if f.implicit or not (f.written or f.viewed):
            continue
        registered.append('  m.impl("%s", kernel<&in_place_or_view::%s>());\n' % (f.full, f.id))
        call = "ops::%s::redispatch(keys_ & kAfterADInplaceOrView, %s)" % (f.id, f.names)
        out.append("%s %s(DispatchKeySet keys_, %s) {\n" % (f.result, f.id, f.parameters()))
        if f.written:
            out.append("  {\n    BelowADInplaceOrView below_;\n    %s;\n  }\n" % call)
            out += ["  %s.impl().bump_version();\n" % a.name for a in f.written]
            out.append("  return %s;\n}\n" % f.written[0].name)
        else:
            out.append("  Tensor result = [&] {\n    BelowADInplaceOrView below_;\n    return %s;\n  }();\n  return as_view(%s, std::move(result), %s);\n}\n"
                       % (call, f.viewed.name, "ViewKind::kNotDifferentiable" if f.base == "detach" else "ViewKind::kDifferentiable"))
    out.append("}  // namespace in_place_or_view\n}  // namespace\n\nvoid register_in_place_or_view(Library& m) {\n")
    return "".join(out) + "".join(registered) + "}\n}  // namespace peel::core\n"
