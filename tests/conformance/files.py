"""torch.save and torch.load between the two engines: each writes the same things, reads its own file and the other's, and tells what it found: types, values,
shapes, strides, which tensors share memory, that optimizers and modules go on as before. All four stories are the same."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

PROGRAM = r"""
import collections, json, sys, torch
from torch import nn

def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))

def trained(make):
    net = network()
    optimizer = make(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(2):
        step(net, optimizer)
        schedule.step()
    return net, optimizer, schedule

def step(net, optimizer):
    optimizer.zero_grad()
    loss = net(torch.linspace(-1, 1, 15).view(5, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()

OPTIMIZERS = {"sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01), "adam": lambda p: torch.optim.Adam(p, lr=0.02, eps=0.1, amsgrad=True),
              "rmsprop": lambda p: torch.optim.RMSprop(p, eps=0.1)}

def things():
    numbers = torch.arange(12.0).view(3, 4)
    kinds = {str(t): torch.tensor([0, 1, 2, 3], dtype=t) for t in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bfloat16, torch.float32, torch.float64)}
    out = {"kinds": kinds, "complex": [torch.tensor([1 + 2j, -3j]), torch.tensor([0.5 + 1j], dtype=torch.complex128)],
           "shared": (numbers, numbers[1:], numbers.t(), numbers[:, 2]), "expanded": torch.ones(1).expand(3), "empty": torch.empty(0, 2), "number": torch.tensor(7),
           "leaf": torch.ones(2, requires_grad=True), "parameter": nn.Parameter(torch.ones(2)), "frozen": nn.Parameter(torch.zeros(1), requires_grad=False),
           "plain": [1, 2.5, "text", None, True, (3, 4), {"a": {1, 2}}], "ordered": collections.OrderedDict(b=1, a=2), "size": torch.Size([2, 3]), "dtype": torch.float64,
           "device": torch.device("cpu")}
    for name, make in OPTIMIZERS.items():
        net, optimizer, schedule = trained(make)
        out[name] = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
    return out

def told(x, memories):
    if isinstance(x, torch.Tensor):
        memory = x.untyped_storage().data_ptr()
        place = memories.setdefault(memory, len(memories)) if x.numel() else None
        values = torch.view_as_real(x.detach()).tolist() if x.is_complex() else x.detach().tolist()
        return [type(x).__name__, str(x.dtype), list(x.shape), list(x.stride()), x.storage_offset(), x.requires_grad, x.is_leaf, place, x.untyped_storage().nbytes(), values]
    if isinstance(x, dict):
        return [type(x).__name__, [[str(k), told(v, memories)] for k, v in x.items()], told(getattr(x, "_metadata", None), memories)]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [told(v, memories) for v in x]]
    return repr(sorted(x)) if isinstance(x, set) else repr(x)

what, path, story = sys.argv[1:]
if what == "save":
    torch.save(things(), path)
    torch.save(network(), path + ".module")
    torch.save([network().state_dict()], path + ".weights")
else:
    found = torch.load(path, weights_only=False)
    facts = {"things": told(found, {}), "strict": told(torch.load(path + ".weights"), {})}
    for name, make in OPTIMIZERS.items():
        net = network()
        optimizer = make(net.parameters())
        facts[name] = [str(net.load_state_dict(found[name]["net"])), optimizer.load_state_dict(found[name]["optimizer"]), [step(net, optimizer) for _ in range(3)],
                       told(optimizer.state_dict(), {})]
    module = torch.load(path + ".module", weights_only=False)
    facts["module"] = [repr(module), step(module, torch.optim.SGD(module.parameters(), lr=0.1)), told(module.state_dict(), {})]
    json.dump(facts, open(story, "w"))
"""


def engine():
    folder = os.path.join(os.path.dirname(harness.peel()), "engine")
    with open(os.path.join(folder, "about.txt")) as f:
        return ["env", "PYTHONPATH=" + folder, f.read().splitlines()[2]]


def difference(a, b, where=""):
    """The first place where two stories differ; numbers to 1e-5."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((d for i, (x, y) in enumerate(zip(a, b)) for d in [difference(x, y, "%s[%d]" % (where, i))] if d), None)
    if isinstance(a, float) and isinstance(b, float):
        return None if abs(a - b) <= 1e-5 * max(1, abs(b)) else "%s: %r, %r" % (where, a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return difference([[k, v] for k, v in a.items()], [[k, v] for k, v in b.items()], where)
    return None if a == b else "%s: %r, %r" % (where, a, b)


def main():
    version = harness.need()
    commands = {"embedded": engine(), "stock": [harness.python()]}
    stories, wrong = {}, []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w") as f:
            f.write(PROGRAM)

        def run(who, what, path, story=""):
            status, _, err = harness.run(commands[who] + [program, what, path, story], cwd=folder)
            if status != 0:
                raise AssertionError("%s, %s of %s: %s" % (who, what, os.path.basename(path), err[-1500:]))
        for who in commands:
            run(who, "save", os.path.join(folder, who))
        for reader in commands:
            for writer in commands:
                story = os.path.join(folder, "story.json")
                run(reader, "load", os.path.join(folder, writer), story)
                with open(story) as f:
                    stories[reader, writer] = json.load(f)
    for (reader, writer), story in stories.items():
        other = difference(story, stories["stock", "stock"])
        print("%s written by %s, read by %s" % ("FAILED" if other else "ok", writer, reader))
        if other:
            wrong.append(other)
            print("  " + other[:600])
    print("torch %s: files go both ways, %d of 4 stories differ" % (version.split()[0], len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
