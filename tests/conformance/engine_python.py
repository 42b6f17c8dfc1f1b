"""Where the embedded engine's operators stand in Python: each name of its torch, of tensors, of torch._C._nn and _linalg that an operator gives is at
the same place in stock PyTorch, and what stock has for an operator of the engine's list is there. Calls that can't be are refused in the same words."""
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
    for line in wrong + other:
        print("  " + line)
    return 1 if wrong or other else 0


sys.exit(main())
