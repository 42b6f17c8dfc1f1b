"""Writes the C++ that follows from native_functions.yaml, derivatives.yaml and batch_rules.yaml.

    generate.py NATIVE DERIVATIVES BATCH_RULES OUT_FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import autograd_kernels  # noqa: E402
import python_bindings  # noqa: E402
import schema  # noqa: E402

TOP = "// Generated from native_functions.yaml and derivatives.yaml.\n"


PARTS = 4  # files that the entry points are spread over; core/CMakeLists.txt names them


def entry_points(functions):
    # Operators of one C++ type share what is compiled, so they share a file.
    types = sorted({f.types + f.result for f in functions})
    part = {t: i * PARTS // len(types) for i, t in enumerate(types)}
    header = [TOP + '#pragma once\n#include "core/ops/types.h"\n\nnamespace peel::core::ops {\n']
    one = [TOP + '#include "ops_generated/ops.h"\n\n#include "core/dispatch/dispatcher.h"\n\nnamespace peel::core::ops {\n'
           "// Found at the first call: schemas are there by then.\n"]
    sources = [list(one) for _ in range(PARTS)]
    for f in functions:
        returned = "return " if f.result != "void" else ""
        header.append("/// aten::%s\nstruct %s {\n  using Signature = %s(%s);\n  static %s call(%s);\n  static %s redispatch(DispatchKeySet keys%s);\n};\n"
                      % (f.schema, f.id, f.result, f.types, f.result, f.parameters(defaults=True), f.result, f.arguments and ", " + f.parameters() or ""))
        parts = sources[part[f.types + f.result]]
        parts.append("static const TypedOperatorHandle<%s::Signature>& handle_%s() {\n  static const auto op = Dispatcher::get().find_schema_or_throw("
                      '"aten::%s", "%s").typed<%s::Signature>();\n  return op;\n}\n%s %s::call(%s) {\n  %shandle_%s().call(%s);\n}\n'
                      "%s %s::redispatch(DispatchKeySet keys_%s) {\n  %shandle_%s().redispatch(keys_%s);\n}\n"
                      % (f.id, f.id, f.base, f.overload or "", f.id, f.result, f.id, f.parameters(), returned, f.id, f.names,
                         f.result, f.id, f.arguments and ", " + f.parameters() or "", returned, f.id, f.arguments and ", " + f.names or ""))
    header.append("}  // namespace peel::core::ops\n")
    definitions = [TOP + '#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n\nnamespace peel::core {\nvoid define_operators(Library& m) {\n']
    definitions += ['  m.def("%s");\n' % f.schema.replace('"', "'") for f in functions]
    definitions.append("}\n}  // namespace peel::core\n")
    return "".join(header), ["".join(s) + "}  // namespace peel::core::ops\n" for s in sources], "".join(definitions)


def autocast(functions):
    """Kernels at AutocastCPU."""
    out = [TOP + '#include "core/autocast/autocast.h"\n#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n#include "ops_generated/ops.h"\n\n'
           "namespace peel::core {\nnamespace {\nnamespace at_autocast {\n"]
    chosen = [f for f in functions if f.autocast]
    types = {"lower": "autocast::lower()", "float": "ScalarType::Float", "widest": "autocast::widest(%s)"}
    for f in chosen:
        to = types[f.autocast] % (f.arguments[0].name,) if f.autocast == "widest" else types[f.autocast]
        names = ", ".join("autocast::cast(to_, %s)" % a.name if a.tensor else a.name for a in f.arguments)
        out.append("%s %s(%s) {\n  autocast::Below below_;\n  const ScalarType to_ = %s;\n  return ops::%s::call(%s);\n}\n" % (f.result, f.id, f.parameters(), to, f.id, names))
    out.append("}  // namespace at_autocast\n}  // namespace\n\nvoid register_autocast(Library& m) {\n")
    out += ['  m.impl("%s", kernel_of(&at_autocast::%s));\n' % (f.full, f.id) for f in chosen]
    return "".join(out) + "}\n}  // namespace peel::core\n"


def lazy_bits(functions):
    """Operators at which the fallbacks of Conjugate and Negative do nothing."""
    out = [TOP + '#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n\nnamespace peel::core {\n']
    for word, name in (("conj", "conjugate"), ("neg", "negative")):
        out.append("void register_%s_fallthroughs(Library& m) {\n  for (const char* name : {%s}) m.impl(name, KernelFunction::fallthrough());\n}\n"
                   % (name, ", ".join('"%s"' % f.full for f in functions if word in f.lazy)))
    return "".join(out) + "}  // namespace peel::core\n"


def callable_by_name(functions):
    """Operators under their own names, for formulas: overloads of C++, where their types differ."""
    out, seen = [TOP + '#pragma once\n#include "ops_generated/ops.h"\n\nnamespace peel::core::formulas {\n'], set()
    for f in functions:
        if not f.out and f.base != "std" and (f.base, f.types) not in seen:
            seen.add((f.base, f.types))
            out.append("inline %s %s(%s) { return ops::%s::call(%s); }\n" % (f.result, f.base, f.parameters(defaults=True), f.id, f.names))
    return "".join(out) + "}  // namespace peel::core::formulas\n"


def backend_select(functions):
    """For operators that get a backend from their options."""
    out = [TOP + '#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n#include "core/ops/options.h"\n#include "ops_generated/ops.h"\n\nnamespace peel::core {\nnamespace {\nnamespace backend_select {\n']
    chosen = [f for f in functions if f.chooses_backend and (not f.implicit or f.sparse)]
    for f in chosen:
        tensors = [a.name for a in f.arguments if a.tensor]
        out.append("%s %s(%s) {\n  return ops::%s::redispatch(chosen_backend(dtype, layout, device, keys_of(%s)), %s);\n}\n"
                   % (f.result, f.id, f.parameters(), f.id, ", ".join(tensors), f.names))
    out.append("}  // namespace backend_select\n}  // namespace\n\nvoid register_backend_select(Library& m) {\n")
    # Composites have a kernel there that passes on with the same set, so that their calls show the key.
    out += ['  m.impl("%s", kernel_of(&backend_select::%s));\n' % (f.full, f.id) for f in chosen]
    for f in functions:
        if f.chooses_backend and f.implicit and not f.sparse:
            out.append('  m.impl("%s", kernel([](DispatchKeySet keys_, %s) -> %s { return ops::%s::redispatch(keys_ & DispatchKeySet::full_after(DispatchKey::BackendSelect), %s); }));\n'
                       % (f.full, f.parameters(), f.result, f.id, f.names))
    return "".join(out) + "}\n}  // namespace peel::core\n"


def batching(functions, rules):
    """How vmap takes operators, where that is no decomposition."""
    by_name = {f.full: f for f in functions}
    out = [TOP + '#include "core/functorch/rules.h"\n#include "core/ops/load.h"\n\nnamespace peel::core {\n\n'
           "void register_batch_rules(Library& at_batched, Library& at_vmap_mode) {\n  using namespace functorch;\n"]
    for name, rule, words, at in rules:
        if name not in by_name:
            raise SystemExit("batch_rules.yaml: no such operator: %s" % name)
        names = [a.name for a in by_name[name].arguments]
        numbers = ", ".join(w if w.isdigit() else str(names.index(w)) for w in words)
        if rule != "decompose":
            library, make = ("at_batched", "batched_kernel") if at == "FuncTorchBatched" else ("at_vmap_mode", "vmap_mode_kernel")
            out.append('  %s.impl("%s", %s(&rules::%s%s));\n' % (library, name, make, rule, ", {%s}" % numbers if numbers else ""))
    out.append("  register_batch_decompositions(at_batched);\n}\n\n}  // namespace peel::core\n")
    return "".join(out)


def decomposed(functions, rules):
    """{key: operators that are their composite kernel there too}"""
    by_name, out = {f.full: f for f in functions}, {}
    for name, rule, _, at in rules:
        if rule == "decompose":
            out.setdefault("FuncTorchBatchedDecomposition" if at == "FuncTorchBatched" else at, []).append(by_name[name])
    return out


def kernels(functions, rules):
    """Declarations of what kernels/ has to define, and their registration."""
    header, seen = [TOP + '#pragma once\n#include "core/ops/types.h"\n\nnamespace peel::kernels {\nusing namespace core;\n'], set()
    keys = {}
    for f in functions:
        for key, name in f.dispatch.items():
            keys.setdefault(key, []).append((f, name))
            if (name, f.types) not in seen:
                seen.add((name, f.types))
                header.append("%s %s(%s);\n" % (f.result, name, f.parameters()))
    header.append("}  // namespace peel::kernels\n")
    out = [TOP + '#include "core/dispatch/library.h"\n#include "core/ops/load.h"\n#include "ops_generated/kernels.h"\n\nnamespace peel::core {\n\n'
           "void register_kernels(std::vector<Library>* libraries) {\n"]
    for key, chosen in decomposed(functions, rules).items():
        keys[key] = [(f, f.dispatch.get("CompositeImplicitAutograd") or next(iter(f.dispatch.values()))) for f in chosen]
    for key, implementations in keys.items():
        out.append('  {\n    Library& m = libraries->emplace_back(Library::Kind::kImpl, "aten", DispatchKey::%s, __FILE__, __LINE__);\n' % key)
        out += ['    m.impl("%s", kernel_of(static_cast<%s (*)(%s)>(&kernels::%s)));\n' % (f.full, f.result, f.types, name) for f, name in implementations]
        out.append("  }\n")
    return "".join(header), "".join(out) + "}\n\n}  // namespace peel::core\n"


def passed(own, target):
    """The arguments of `own` as those of `target`: by name, else by place; a number where a tensor is taken becomes one."""
    names, out = {a.name: a for a in own.arguments}, []
    for i, a in enumerate(target.arguments):
        given = names.get(a.name) or (own.arguments[i] if i < len(own.arguments) else own.written[0] if a.written else None)
        if given is None:
            break
        out.append("wrapped(%s)" % given.name if a.tensor and given.type == "Scalar" else given.name)
    return ", ".join(out)


def forms(functions):
    """Kernels of out= and in-place forms by that of the plain form, and of operators that are others under a second name."""
    by_name = {f.full: f for f in functions}
    out = [TOP + '#include "kernels/cpu/elementwise.h"\n#include "ops_generated/kernels.h"\n#include "ops_generated/ops.h"\n\nnamespace peel::kernels {\n']
    for f in functions:
        if not f.like and not f.calls:
            continue
        name, _, arguments = (f.like or f.calls).partition("(")
        target = by_name.get(name)
        if not target:
            raise SystemExit("%s: no such operator: %s" % (f.place, name))
        arguments = arguments[:-1] or passed(f, target)
        if f.calls:
            body = "  return ops::%s::call(%s);\n" % (target.id, arguments)
        else:
            kernel = target.dispatch.get("CPU") or next(iter(target.dispatch.values()))
            body = "  const auto made_ = kernels::%s(%s);\n" % (kernel, arguments)
            put = "write_over" if f.inplace else "write_into"
            if len(f.written) == 1:
                body += "  return %s(%s, made_);\n" % (put, f.written[0].name)
            else:
                body += "".join("  %s(%s, std::get<%d>(made_));\n" % (put, a.name, i) for i, a in enumerate(f.written))
                body += "  return {%s};\n" % ", ".join(a.name for a in f.written)
        parameters = ", ".join("[[maybe_unused]] " + p for p in f.parameters().split(", "))
        out.append("%s %s(%s) {\n%s}\n" % (f.result, f.id, parameters, body))
    return "".join(out) + "}  // namespace peel::kernels\n"


def main():
    native, derivatives, batch_rules, out = sys.argv[1:5]
    functions, table = schema.load(native, derivatives)
    rules = schema.batch_rules(batch_rules)
    files = {}
    files["ops.h"], parts, files["define.cpp"] = entry_points(functions)
    files.update(("ops_%d.cpp" % i, text) for i, text in enumerate(parts))
    files["autocast.cpp"] = autocast(functions)
    files["lazy_bits.cpp"] = lazy_bits(functions)
    files["call.h"] = callable_by_name(functions)
    files["kernels.h"], files["register_kernels.cpp"] = kernels(functions, rules)
    files["batching.cpp"] = batching(functions, rules)
    files["forms.cpp"] = forms(functions)
    files["backend_select.cpp"] = backend_select(functions)
    files["nodes.h"], files["nodes.cpp"] = autograd_kernels.nodes(table)
    files["autograd.cpp"] = autograd_kernels.autograd(functions, table)
    files["in_place_or_view.cpp"] = autograd_kernels.in_place_or_view(functions)
    files["python_bindings.cpp"] = python_bindings.bindings(functions)
    os.makedirs(out, exist_ok=True)
    for name, text in files.items():
        path = os.path.join(out, name)
        if not os.path.exists(path) or open(path).read() != text:  # unchanged files aren't compiled again
            with open(path, "w") as f:
                f.write(text)
    with open(os.path.join(out, "stamp"), "w"):
        pass


main()
