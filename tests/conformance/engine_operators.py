"""Operators one by one, on named and on random inputs (fixed seed): hops, key sets, thread-local state, nodes, results with their types, strides,
versions and node, gradients, and errors, on stock PyTorch against the embedded engine. Stock runs all cases in one recorded program.

    engine_operators.py [SEED [COUNT]]
"""
import ast
import json
import os
import sys
import tempfile

import engine_breadth_cases
import engine_cases
import engine_layer_cases
import engine_more_cases
import engine_nested_cases
import engine_rows
import engine_sparse_cases
import engine_twice_cases
import engine_wide_cases
import harness
from dispatch_replay import Replay

SEED = 20261
SPARSE = ("coo", "twice", "csr", "csc")  # looks of inputs; `coo:1` has one sparse dimension
FURTHER = (engine_breadth_cases, engine_wide_cases, engine_layer_cases, engine_sparse_cases, engine_nested_cases, engine_twice_cases)
KNOWN = {words: what for cases in FURTHER for words, what in cases.KNOWN.items()}
STOCK = '''
import json, random, sys, torch, warnings
warnings.simplefilter("ignore")
def make(values, size, dtype, strides, layout, grad):
    if dtype.startswith("complex"):
        values = [complex(v, v + 0.5) for v in values]
    t = torch.tensor(values, dtype=getattr(torch, dtype)).as_strided(size, strides) if values else torch.empty_strided(size, strides, dtype=getattr(torch, dtype))
    t = sparse(t, *layout.split(":")).detach() if layout else t.detach()
    return t.requires_grad_(True) if grad else t
def sparse(t, layout, dims=None):
    if layout in ("coo", "twice"):
        t = t.to_sparse(int(dims) if dims else t.dim())
        i, v = t.indices(), t.values()
        return t if layout == "coo" else torch.sparse_coo_tensor(torch.cat([i.flip(1), i], 1), torch.cat([v.flip(0), v]), t.shape)
    return t.to_sparse_csr() if layout == "csr" else t.to_sparse_csc()
def parts(t):
    """Numbers that say how a sparse or nested tensor is stored, and what it holds."""
    t = t.detach()
    if t.is_nested:
        return t._nested_tensor_size().view(-1).tolist(), list(t.unbind())
    if t.layout == torch.sparse_coo:
        return [t.sparse_dim(), t.dense_dim(), t._nnz(), int(t.is_coalesced())], [t._indices(), t._values()]
    rows = t.layout == torch.sparse_csr
    return [int(rows), t.dense_dim(), t._nnz()], [t.crow_indices(), t.col_indices(), t.values()] if rows else [t.ccol_indices(), t.row_indices(), t.values()]
def numbers(t):
    flat = t.detach().resolve_conj().resolve_neg().contiguous().view(-1)
    return torch.view_as_real(flat).view(-1).tolist() if t.is_complex() else flat.tolist()
def mark(t=torch.ones(1)):
    torch.result_type(t, 1)
def fact(t):
    if t is None:
        return None
    node = t.grad_fn.name() if t.grad_fn is not None else "None"
    keys = torch._C._dispatch_keys(t).raw_repr()
    strides, held = (list(t.stride()), [t]) if t.layout == torch.strided and not t.is_nested else parts(t)
    values = [v for part in held for v in numbers(part)]
    return [str(t.dtype)[6:], [0] * t.dim() if t.is_nested else list(t.shape), strides, int(t.requires_grad), node.split("::")[-1], keys, -1 if t.is_inference() else t._version, values]
alive = []
facts = open(sys.argv[1], "w")
def case(inputs, program, names):
    v = {n: make(*i) for n, i in inputs.items()}
    v["torch"] = torch
    alive.append(v)  # a node at the address of one that is gone is hard to tell from it
    code = compile(program, "case", "exec")
    error = None
    mark()
    try:
        exec(code, v)
    except Exception as e:
        error = [type(e).__name__, str(e).split("\\n")[0]]
    mark()
    out = {n: fact(v[n]) for n in names if isinstance(v.get(n), torch.Tensor)}
    grads = {n: fact(v[n].grad) for n in inputs if isinstance(v.get(n), torch.Tensor) and v[n].is_leaf}
    facts.write(json.dumps([error, out, grads]) + "\\n")
for c in json.load(open(sys.argv[2])):
    case(*c)
'''


def storage(shape, dtype, look, index):
    """(values of the storage, size, strides) of an input. Values depend on the case's number."""
    size, strides, n = list(shape), [], 1
    for s in reversed(size):
        strides.insert(0, n)
        n *= max(s, 1)
    if look == "t" and len(size) >= 2:
        m = 1
        order = list(range(len(size)))
        strides = [0] * len(size)
        for d in order:
            strides[d] = m
            m *= max(size[d], 1)
    if look == "s":
        strides = [2 * s for s in strides]
        n *= 2
    if look == "e" and size and size[0] > 1:
        strides[0] = 0
    count = 0 if 0 in size else 1 + sum((s - 1) * t for s, t in zip(size, strides))
    values = [((k * 37 + index * 11) % 19 + 1) * 0.25 - (2 if k % 3 == 0 else 0) for k in range(count)]
    if look.split(":")[0] in SPARSE:  # with holes
        values = [v if k % 3 != 1 else 0 for k, v in enumerate(values)]
    if look == "small":
        values = [v / 8 for v in values]
    if dtype == "int64":
        values = [int(4 * v) for v in values]
    if look == "zero":
        values = [0 for v in values]
    if dtype == "bool":
        values = [bool(int(4 * v) % 2) for v in values]
    return values, size, strides


def argument(text, known):
    if text[0] == "[":
        return "[%s]" % ",".join("$" + a if a in known else a for a in text[1:-1].split(",") if a)
    return "$" + text if text in known else "" if text == "cpu" else text


def commands(text, known):
    """Commands of a case as fields."""
    out = []
    for part in text.split("; "):
        words = part.split()
        if words[0] in ("backward", "push", "pop", "seed"):
            out.append(words)
            continue
        name, _, what, *arguments = words
        known.update(name.split(","))
        if what == "data":
            out.append(["data", name, arguments[0]])
        elif what == "grad_of":
            out.append(["grad_of", name, *arguments])
        elif what == "number":
            out.append(["number", name, arguments[0]])
        elif what == "broadcast":
            out.append(["call", name, "broadcast_tensors", "[%s]" % ", ".join("$" + a for a in arguments)])
        else:
            out.append(["call", name, what, *(argument(a, known) for a in arguments)])
    return out


def inputs_of(case, index):
    out = {}
    for name, (shape, dtype, grad, look) in case[0].items():
        values, size, strides = storage(shape, dtype, look, index)
        out[name] = (values, size, dtype, strides, look if look.split(":")[0] in SPARSE else "", grad)
    return out


def ours(replay, case, index):
    """(error, facts, grads, rows)"""
    def csv(v):
        return ",".join(str(int(x) if isinstance(x, bool) else x) for x in v) or "-"
    inputs = inputs_of(case, index)
    for name, (values, size, dtype, strides, layout, grad) in inputs.items():
        replay.do("tensor", name, dtype, csv(size), csv(strides), csv(values), str(int(grad)), *layout.split(":"))
    replay.send("hops")
    error, known, pushed = None, set(inputs), 0
    for command in commands(case[2], known):
        if error and command[0] != "pop":
            continue
        answer = replay.send(*command)
        pushed += (command[0] == "push") - (command[0] == "pop")
        if answer and answer[0].startswith("error "):
            error = answer[0][6:].split(" ", 1)
    rows = [engine_rows.parse(line) for line in replay.send("hops")]

    def fact(command, name):
        line = replay.send(command, name)[0]
        if line.startswith("error ") or line == "None":
            return None
        f = line.split("\t")
        values = [float(x) for x in f[7].split(",")] if len(f) > 7 and f[7] else []
        return [f[0], ast.literal_eval(f[1]), ast.literal_eval(f[2]), int(f[3]), f[4], int(f[5]), int(f[6]), values]
    facts = {name: fact("show", name) for name in known}
    grads = {name: fact("grad", name) for name in inputs}
    for name in known:
        replay.send("drop", name)
    return error, facts, grads, rows


def close(a, b, tolerance):
    return a == b or abs(a - b) <= tolerance * max(1, abs(a), abs(b)) or (a != a and b != b)


def same(mine, theirs):
    if mine is None or theirs is None:
        return mine is theirs
    tolerance = 1e-2 if theirs[0] == "bfloat16" else 1e-5
    return mine[:7] == theirs[:7] and len(mine[7]) == len(theirs[7]) and all(close(a, float(b), tolerance) for a, b in zip(mine[7], theirs[7]))


def main():
    version = harness.need()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else SEED
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    more = [case for cases in FURTHER for case in cases.cases()]
    named = list(engine_cases.named()) + list(engine_more_cases.cases()) + more
    graphs = list(engine_cases.graphs(seed, count // 4))
    cases = named + graphs + list(engine_cases.drawn(seed, count)) + list(engine_more_cases.drawn(seed, count))
    breadth = set(range(len(named) - len(more), len(named))) | set(range(len(cases), len(cases) + count // 2))
    cases += engine_breadth_cases.drawn(seed, count // 2)
    asked = []
    for index, c in enumerate(cases):
        known = set(c[0])
        commands(c[2], known)
        asked.append([inputs_of(c, index), c[1], sorted(known)])
    with tempfile.TemporaryDirectory() as folder:
        program, facts, list_of, session = (os.path.join(folder, n) for n in ("cases.py", "facts", "cases.json", "cases.peel"))
        with open(program, "w") as f:
            f.write(STOCK)
        with open(list_of, "w") as f:
            json.dump(asked, f)
        status, _, err = harness.record(session, [program, facts, list_of])
        if status != 0:
            print("recording the cases: " + err)
            return 1
        theirs = [json.loads(line) for line in open(facts)]
        recorded = engine_rows.segments(engine_rows.stock(session), "aten::result_type.Scalar")
    replay = Replay("engine", "script")
    wrong = {"hops": 0, "values": 0, "errors": 0}
    hops = errors = 0
    known, used = dict.fromkeys(wrong, 0), {}
    shown = 0
    for index, (c, (error, facts, grads), rows) in enumerate(zip(cases, theirs, recorded)):
        my_error, my_facts, my_grads, my_rows = ours(replay, c, index)
        problems = []
        said = "%s [%s]" % (c[1], ", ".join(i[3] for i in c[0].values()))
        words = [w for w in KNOWN if w in said] if index in breadth else []

        def differs(what, lines):
            reasons = [w for w in words if what in KNOWN[w][0]]
            for w in reasons:
                used.setdefault(w, set()).add(what)
            (known if reasons else wrong)[what] += 1
            problems.extend([] if reasons else lines)

        hops += len(rows)
        errors += error is not None
        number, lines = engine_rows.differences(my_rows, rows, 14, renumber=True)
        if number:
            differs("hops", lines)
        # Of a kernel that isn't there: which keys have one depends on what else there is.
        lacking = error and my_error and error[1].startswith("Could not run") and error[1].split(". ")[0].replace("aten::", "") == my_error[1].split(". ")[0].replace("aten::", "")
        if not lacking and ((error is None) != (my_error is None) or error and (my_error[0] != error[0] or my_error[1] not in error[1])):
            differs("errors", ["error: ours %s\n         stock's %s" % (my_error, error)])
        bad = [(n, my_facts.get(n), f) for n, f in facts.items() if not same(my_facts.get(n), f)]
        bad += [("grad of " + n, my_grads.get(n), f) for n, f in grads.items() if not same(my_grads.get(n), f)]
        if bad:
            differs("values", ["%s: ours %s\n      stock's %s" % b for b in bad])
        if problems and shown < 12:
            shown += 1
            print("case %d %s: %s" % (index, c[0], c[1].replace("\n", " / ")))
            print("\n".join("  " + p for p in problems))
    replay.close()
    print("known to differ: in hops %d cases, in values %d, in errors %d: %s" % (
        known["hops"], known["values"], known["errors"], "; ".join(sorted({why for _, why in KNOWN.values()}))))
    idle = [w for w, (what, _) in KNOWN.items() if set(what.split()) != used.get(w, set())] if seed == SEED else []
    for w in idle:
        print("KNOWN %r: listed as differing in %s, differs in %s" % (w, KNOWN[w][0], " ".join(sorted(used.get(w, {"nothing"})))))
    print("torch %s, seed %d: %d named cases, %d random graphs, %d random calls (%d raise), %d hops; cases that differ in hops %d, in values %d, in errors %d"
          % (version.split()[0], seed, len(named), len(graphs), len(cases) - len(named) - len(graphs), errors, hops, wrong["hops"], wrong["values"], wrong["errors"]))
    return 1 if any(wrong.values()) or idle or len(recorded) != len(cases) else 0


sys.exit(main())
