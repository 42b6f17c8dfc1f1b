"""Where the embedded engine's operators stand in Python: each name of its torch, of tensors, of torch._C._nn and _linalg that an operator gives is at
the same place in stock PyTorch, and what stock has for an operator of the engine's list is there. Calls that can't be are refused in the same words.
Each other name of stock is in the list of what the engine lacks, so that asking for it says so, and none is there that stock has not."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

NAMES = r"""
import json, sys, torch
names = json.load(sys.stdin)
places = {"function": torch._C._VariableFunctions, "method": torch._C.TensorBase, "nn": torch._C._nn, "linalg": torch._C._linalg}
print(json.dumps({n: [p for p, where in places.items() if hasattr(where, n)] for n in names}))
"""
# The names at places of PyTorch: modules, classes. Those of `torch` are also the modules that it reads when they are asked for.
HELD = r"""
import importlib, json, pkgutil, sys, torch
classes = {"torch.Tensor": torch.Tensor, **{"torch._C." + n: getattr(torch._C, n) for n in ("_VariableFunctions", "_nn", "_linalg")}}
out = {}
for name, asked in json.load(sys.stdin).items():
    where = classes[name] if name in classes else importlib.import_module(name)
    held = set(dir(where)) | ({m.name for m in pkgutil.iter_modules(where.__path__)} if name == "torch" else set())
    out[name] = sorted({n for n in held if not n.startswith("__")} | {n for n in asked if hasattr(where, n)})
print(json.dumps(out))
"""
# Methods that core/python writes by hand: operators of the list stand behind them.
BY_HAND = {"is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_same_size"}
CALLS = ["torch.exp()", "torch.exp(1)", "torch.exp(a, a)", "torch.mm(a, 3)", "a.mm()", "a.mm(a, k=1)", "torch.add(a, 'x')", "torch.relu('x')", "a.transpose(0.5, 1)",
         "torch.ones('x')", "a.neg(1)", "a + 'x'", "a.t(1)", "torch.tanh(a, a)", "a.sum(keepdim=3)", "a.unsqueeze()", "a.unsqueeze('x')"]
CALL = r"""
import json, sys, torch
a = torch.ones(2, 3)
out = []
for text in json.load(sys.stdin):
    try:
        eval(text)
        out.append("fine")
    except Exception as e:
        out.append(type(e).__name__ + ": " + str(e).split("\n")[0])
print(json.dumps(out))
"""


def ask(command, code, question):
    status, out, err = harness.run(command + ["-c", code], input=json.dumps(question))
    if status != 0:
        raise AssertionError("%s ended with %d: %s" % (command, status, err))
    return json.loads(out)


def lacking():
    """{place: names} of the engine's list."""
    held = {}
    with open(os.path.join(harness.ROOT, "core", "python", "torch", "_stock_names.py")) as f:
        exec(f.read(), held)
    return {place: text.split() for place, text in held["LACKING"].items()}


def wrong_names():
    listed = lacking()
    stock = ask([harness.python()], HELD, dict.fromkeys(listed, []))
    ours = ask(engine(), HELD, stock)
    wrong = []
    for place, names in listed.items():
        unlisted, unknown = set(stock[place]) - set(ours[place]) - set(names), set(names) - set(stock[place])
        wrong += ["%s: %s" % (place, text) for text in
                  (unlisted and "not listed as lacking: %s" % sorted(unlisted), unknown and "listed as lacking, but not in stock: %s" % sorted(unknown)) if text]
    print("%d names of %d places are listed as lacking, %d places with a wrong list" % (sum(map(len, listed.values())), len(listed), len(wrong)))
    return wrong


def engine():
    folder = os.path.join(os.path.dirname(harness.peel()), "engine")
    with open(os.path.join(folder, "about.txt")) as f:
        return ["env", "PYTHONPATH=" + folder, f.read().splitlines()[2]]


def main():
    version = harness.need()
    with open(os.path.join(harness.ROOT, "core", "ops", "native_functions.yaml")) as f:
        names = sorted(set(re.findall(r"(?m)^- func: (\w+)", f.read())))
    ours, theirs = ask(engine(), NAMES, names), ask([harness.python()], NAMES, names)
    wrong = ["%s: embedded %s, stock %s" % (n, ours[n], theirs[n]) for n in names if ours[n] != theirs[n] and n not in BY_HAND]
    print("torch %s: %d names of operators, %d at another place than in stock" % (version.split()[0], len(names), len(wrong)))
    refused = list(zip(CALLS, ask(engine(), CALL, CALLS), ask([harness.python()], CALL, CALLS)))
    other = ["%s: embedded %r, stock %r" % r for r in refused if r[1] != r[2]]
    print("%d calls that are refused, %d in other words" % (len(CALLS), len(other)))
    lists = wrong_names()
    for line in wrong + other + lists:
        print("  " + line)
    return 1 if wrong or other or lists else 0


sys.exit(main())
