"""Saved tensors as recorded, against PyTorch's own getters: before each backward a walk over the graph from Python asks every node
for its `_saved_*` (and `saved_tensors` of custom functions), and writes names, places in lists, shapes, versions, bytes and addresses.

The recording has no addresses: what shares a storage for PyTorch must share one there, and only that.
"""
import json
import os
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

WALK = """
import json, runpy, sys
import torch
program, out = sys.argv[1:3]
sys.argv = sys.argv[1:2]
found, walks = [], 0

def describe(value):
    if value is None:
        return []
    if isinstance(value, torch.Tensor):
        return [(-1, value)]
    return [(i, t) for i, t in enumerate(value) if isinstance(t, torch.Tensor)]

def walk(roots):
    global walks
    walks += 1
    todo, seen = [t.grad_fn for t in roots if t.grad_fn is not None], set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        names = [n for n in dir(node) if n.startswith("_saved_")] + (["saved_tensors"] if isinstance(node, torch.autograd.function.BackwardCFunction) else [])
        for name in names:
            try:
                value = getattr(node, name)
            except RuntimeError as e:
                found.append([walks, node.name(), node._sequence_nr(), name, str(e)])
                continue
            if isinstance(value, (tuple, list)) and not any(isinstance(t, torch.Tensor) for t in value):
                continue
            for index, t in describe(value) if value is None or isinstance(value, (torch.Tensor, tuple, list)) else []:
                s = t.untyped_storage()
                found.append([walks, node.name(), node._sequence_nr(), name, index, list(t.shape), t._version, s.nbytes(), s.data_ptr()])
        todo += [n for n, _ in node.next_functions if n is not None]
    return seen

original, kept = torch.autograd.backward, []
def backward(tensors, *args, **kwargs):
    kept.append(walk([tensors] if isinstance(tensors, torch.Tensor) else tensors))
    return original(tensors, *args, **kwargs)
torch.autograd.backward = backward
try:
    runpy.run_path(program, run_name="__main__")
finally:
    with open(out, "w") as f:
        json.dump(found, f)
"""

OWN = {
    # an output that is kept, views, lists, None, in-place on a view, several outputs, saved twice
    "shapes": """
import torch
torch.manual_seed(0)
x = torch.randn(4, 6, requires_grad=True)
w = torch.randn(6, 3, requires_grad=True)
y = (x.exp() @ w).sigmoid()
z = torch.cat([y, y.t().reshape(4, 3)]).clamp_min(0.1)
v = x * 2
v[:, 0].mul_(v[:, 1].detach().clone())
i = z[torch.tensor([0, 2, 5])]
a, b = torch.nn.functional.layer_norm(z, (3,)), torch.max(v, dim=1)[0]
s = torch.stack([a.sum(), b.sum(), i.prod(), torch.where(z > 0.5, z, z * 3).sum()])
s.norm().backward()
""",
    # what in-place writes do to saved versions
    "written": """
import torch
x = torch.ones(3, requires_grad=True)
h = x * 1
h.mul_(2); h.add_(1)
y = h.sin()
h.requires_grad
(y * h).sum().backward()
a = torch.ones(3, requires_grad=True)
b = a * 2
c = b.exp()
d = c.pow(2)
c.add_(1)
try:
    d.sum().backward()
except RuntimeError as e:
    print("raised:", str(e)[:40])
""",
    # custom functions: inputs, outputs and intermediates kept, met late; two roots; a graph that is kept
    "custom": """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        mid = x * 3
        out, other = mid + y, mid - y
        ctx.save_for_backward(x, mid, out, other, None)
        return out, other
    @staticmethod
    def backward(ctx, g, h):
        x, mid, out, other, none = ctx.saved_tensors
        return g * x + h, g * out + h * other
x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
out, other = F.apply(x.tanh(), y)
torch.autograd.backward([out.sum(), other.sum()], retain_graph=True)
torch.autograd.backward([out.sum(), F.apply(x, y)[0].sum()])
""",
}
PROGRAMS = ["train_step", "grad_modes", "custom_op", "cnn", "lstm", "transformer", "custom_function", "views_inplace", *OWN]


def path_of(name, folder):
    if name in OWN:
        path = os.path.join(folder, name + ".py")
        with open(path, "w") as f:
            f.write(OWN[name])
        return path
    for place in (harness.PROGRAMS, os.path.join(HERE, "programs")):
        if os.path.exists(os.path.join(place, name + ".py")):
            return os.path.join(place, name + ".py")
    raise FileNotFoundError(name)


def check(name, folder, problems):
    walk, out, session = os.path.join(folder, "walk.py"), os.path.join(folder, name + ".json"), os.path.join(folder, name + ".peel")
    with open(walk, "w") as f:
        f.write(WALK)
    status, _, err = harness.record(session, [walk, path_of(name, folder), out], timeout=300)
    if status:
        return problems.append("%s: recording ended with %d: %s" % (name, status, err[-500:]))
    with open(out) as f:
        theirs = json.load(f)
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    rows = db.execute(
        "SELECT v.node_name, n.sequence_nr, v.name, v.list_index, v.shape, v.version, v.bytes, t.storage, v.tensor, v.flags, n.event, n.output, t.birth_event, v.node "
        "FROM saved_tensor v JOIN node n ON n.id = v.node LEFT JOIN tensor t ON t.id = v.tensor").fetchall()
    ours = {tuple(r[:4]): r for r in rows}
    if len(ours) != len(rows):
        problems.append("%s: %d of %d rows say the same node and name twice" % (name, len(rows) - len(ours), len(rows)))
    storages, addresses, compared, packed = {}, {}, 0, 0
    for turn, node, sequence, what, *rest in theirs:
        if len(rest) == 1:  # its getter raised: written since, or let go
            if not any(k[:3] == (node, sequence, what) for k in ours):
                problems.append("%s: %s #%d %s is not recorded" % (name, node, sequence, what))
            continue
        index, shape, version, nbytes, address = rest
        row = ours.get((node, sequence, what, index))
        if row is None:
            problems.append("%s: %s #%d %s[%d] is not recorded" % (name, node, sequence, what, index))
            continue
        compared += 1
        if row[9] & 2:  # packed by the program's hooks: only that it was saved is known
            packed += 1
            continue
        mine = (json.loads(row[4] or "null"), row[5], row[6])
        if mine != (shape, version, nbytes):
            problems.append("%s: %s #%d %s: shape, version, bytes %r, PyTorch %r" % (name, node, sequence, what, mine, (shape, version, nbytes)))
        # Addresses are used again later, but a graph is whole in memory while it is walked.
        if nbytes and (storages.setdefault((turn, row[7]), address) != address or addresses.setdefault((turn, address), row[7]) != row[7]):
            problems.append("%s: %s #%d %s shares its storage otherwise than for PyTorch" % (name, node, sequence, what))
        if row[8] is None:
            problems.append("%s: %s #%d %s has no tensor" % (name, node, sequence, what))
    named = {tuple(r[1:4]) for r in theirs}
    # Nodes that no backward reached, that CopySlices runs, or that have no getters are not walked.
    walked = {tuple(r[1:3]) for r in theirs}
    for row in rows:
        if (row[0], row[1]) in walked and (row[0], row[1], row[2]) not in named and not row[9] & 8:
            problems.append("%s: %s #%d %s is recorded, PyTorch has none" % (name, row[0], row[1], row[2]))
        if row[9] & 1 and row[10] and row[8] and row[12] is not None:
            last = db.execute("WITH RECURSIVE inside(id) AS (SELECT ? UNION SELECT e.id FROM event e JOIN inside i ON e.parent = i.id) SELECT 1 FROM inside WHERE id = ?", (row[10], row[12])).fetchone()
            if not last and row[0] not in ("CopySlices",) and not db.execute("SELECT 1 FROM result WHERE event = ? AND tensor = ?", (row[10], row[8])).fetchone():
                problems.append("%s: %s #%d %s is an output, but t%d was born elsewhere" % (name, row[0], row[1], row[2], row[8]))
    with open(path_of(name, folder)) as f:
        if packed and "checkpoint" not in f.read():
            problems.append("%s: %d are packed by hooks, and the program sets none" % (name, packed))
    lost = db.execute("SELECT name, count FROM loss WHERE name LIKE 'saved%'").fetchall()
    if lost:
        problems.append("%s: lost %r" % (name, lost))
    print("%-16s %4d saved tensors, %4d compared, %d nodes" % (name, len(rows), compared, len({r[13] for r in rows})))
    if compared == 0 and name not in ("grad_modes",):
        problems.append("%s: nothing was compared" % name)


def main():
    harness.need()
    problems = []
    with tempfile.TemporaryDirectory(prefix="peel-saved-") as folder:
        for name in sys.argv[1:] or PROGRAMS:
            check(name, folder, problems)
    for p in problems[:40]:
        print(p)
    print("%d problems" % len(problems) if problems else "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
