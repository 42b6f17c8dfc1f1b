"""Tensors without operators: contiguity, strides of views, expansion, broadcasting, bounds, layout of element-wise results, overlap, type promotion, and the keys and versions of new tensors in and out
of inference mode, all against stock on random shapes (fixed seed).

    tensor_facts.py [SEED]
"""
import random
import sys
import warnings

from dispatch_replay import Replay, under_torch

CASES = 3000


def text(values):
    return ",".join(map(str, values)) or "-"


def listed(values):
    return "[" + ", ".join(map(str, values)) + "]"


def random_tensor(torch, rng):
    """Permuted, sliced, expanded, narrowed, odd strides."""
    sizes = [rng.choice([0, 1, 1, 2, 2, 3, 4, 6]) if rng.random() < 0.9 else 5 for _ in range(rng.choice([0, 1, 2, 3, 4, 4, 5]))]
    t = torch.empty(sizes)
    if t.dim() == 4 and rng.random() < 0.4:
        t = torch.empty(sizes, memory_format=torch.channels_last)
    if t.dim() == 5 and rng.random() < 0.4:
        t = torch.empty(sizes, memory_format=torch.channels_last_3d)
    for _ in range(rng.randint(0, 2)):
        if not t.dim():
            break
        d = rng.randrange(t.dim())
        how = rng.randrange(5)
        if how == 0:
            t = t.permute(rng.sample(range(t.dim()), t.dim()))
        elif how == 1:
            t = t.transpose(d, rng.randrange(t.dim()))
        elif how == 2:
            t = t[(slice(None),) * d + (slice(None, None, 2),)]
        elif how == 3 and t.size(d) == 1:
            t = t.expand([3 if i == d else s for i, s in enumerate(t.shape)])
        elif t.size(d) > 1:
            t = t.narrow(d, 1, t.size(d) - 1)
    if rng.random() < 0.1:
        t = torch.empty_strided(t.shape, [rng.choice([0, 1, 2, 3, 6]) for _ in t.shape])
    return t


def random_shape(rng, t):
    """A shape to view as: often one that fits."""
    n, out = t.numel(), []
    if rng.random() < 0.2:
        return [rng.choice([-1, 0, 1, 2, 3, -2]) for _ in range(rng.randint(0, 3))]
    if n == 0:
        out = [0, rng.choice([1, 2, 3])]
    while n > 1 and n:
        f = rng.choice([d for d in range(2, n + 1) if n % d == 0])
        out.append(f)
        n //= f
    for _ in range(rng.randint(0, 2)):
        out.insert(rng.randint(0, len(out)), 1)
    if rng.random() < 0.5:
        rng.shuffle(out)
    if out and rng.random() < 0.3:
        out[rng.randrange(len(out))] = -1
    return out


def attempt(f):
    try:
        return f()
    except (RuntimeError, IndexError) as e:
        return "error " + str(e).split("\n")[0]


def elementwise(torch, a, b):
    try:
        torch.broadcast_shapes(a.shape, b.shape)
        return True
    except RuntimeError:
        return False


def written(torch, source, out):
    """What stock says to writing there: the beginning of its complaint, or nothing."""
    try:
        torch.neg(source, out=out)
        return "fine"
    except RuntimeError as e:
        return "some elements" if "some elements" in str(e) else "more than one element" if "more than one element" in str(e) else str(e)


def questions(torch, rng):
    """(command, stock's answer)"""
    dense = torch.ops.aten.is_non_overlapping_and_dense
    for _ in range(CASES):
        t, other = random_tensor(torch, rng), random_tensor(torch, rng)
        s, st = text(t.shape), text(t.stride())
        yield ("geometry", s, st), "%d %d %d %d %s" % (t.is_contiguous(), t.is_contiguous(memory_format=torch.channels_last),
                                                       t.is_contiguous(memory_format=torch.channels_last_3d), dense(t), listed(torch.empty_like(t).stride()))
        shape = random_shape(rng, t)
        yield ("view", s, st, text(shape)), attempt(lambda: "%s %s" % (listed((v := t.view(shape)).shape), listed(v.stride())))
        target = [x if x != 1 or rng.random() < 0.3 else rng.choice([2, 3, -1, 0]) for x in t.shape]
        # Stock lets a scalar be expanded to a size of -1, a tensor that then fails everywhere: refused here.
        target = [rng.choice([1, 2, -1, 0] if t.dim() else [0, 1, 2]) for _ in range(rng.choice([0, 0, 1, 2]))] + target
        if target and rng.random() < 0.1:
            target.pop(0)
        yield ("expand", s, st, text(target)), attempt(lambda: "%s %s" % (listed((v := t.expand(target)).shape), listed(v.stride())))
        yield ("broadcast", s, text(other.shape)), attempt(lambda: listed(torch.add(t, other).shape))
        sizes = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 3))]
        strides = [rng.choice([0, 1, 2, 4, -1]) if rng.random() < 0.3 else 1 for _ in sizes]
        offset = rng.choice([0, 0, 1, 3, -1])
        base = torch.empty(t.shape)
        yield ("as_strided", s, text(sizes), text(strides), str(offset)), attempt(
            lambda: "%s %s %d" % (listed((v := base.as_strided(sizes, strides, offset)).shape), listed(v.stride()), v.storage_offset()))
        d = rng.randint(-6, 6)
        yield ("wrap", str(d), str(t.dim())), attempt(lambda: (torch.cumsum(t, d), str(d % max(t.dim(), 1)))[1])
        if elementwise(torch, t, other):
            yield ("elementwise", s, st, text(other.shape), text(other.stride())), listed((t + other).stride())
        twin = t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() and rng.random() < 0.5 else torch.empty_like(t)
        yield ("elementwise", s, st, s, text(twin.stride())), listed((t + twin).stride())
        yield ("internal_overlap", s, st), str(torch._debug_has_internal_overlap(t))
        sizes, offsets = [rng.choice([1, 2, 3]) for _ in range(rng.randint(1, 2))], [rng.randint(0, 6), rng.randint(0, 6)]
        strides = [rng.choice([[3, 1], [1, 2], [1, 3], [2, 1], [0, 1]])[-len(sizes):] for _ in range(2)]
        a = torch.empty(20).as_strided(sizes, strides[0], offsets[0])
        b = a.as_strided(sizes, strides[1], offsets[1])
        yield ("write", text(sizes), text(strides[0]), str(offsets[0]), text(strides[1]), str(offsets[1])), written(torch, a, b)
        if t.dim() == 4:
            yield ("channels_last", s), listed(torch.empty(t.shape, memory_format=torch.channels_last).stride())


def types(torch):
    return {i: t for i, t in enumerate([torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex32,
                                        torch.complex64, torch.complex128, torch.bool, None, None, None, torch.bfloat16]) if t is not None}


def promotions(torch):
    """Every pair of types, and of operands of each strength, under each default type."""
    name = lambda t: str(t)[len("torch."):]  # noqa: E731
    known = types(torch)
    for i, a in known.items():
        for j, b in known.items():
            yield ("promote", str(i), str(j)), "%s %d" % (name(torch.promote_types(a, b)), torch.can_cast(a, b))
    operands = [("t%d" % i, torch.ones(2, dtype=t)) for i, t in known.items()] + [("z%d" % i, torch.ones((), dtype=t)) for i, t in known.items()]
    operands += [("n11", True), ("n4", 1), ("n7", 1.0), ("n10", 1j)]
    try:
        for default, number in ((torch.float32, "6"), (torch.float64, "7"), (torch.float16, "5"), (torch.bfloat16, "15")):
            torch.set_default_dtype(default)
            for i, a in operands:
                for j, b in operands:
                    yield ("result_type", number, i, j), name(torch.result_type(a, b))
    finally:
        torch.set_default_dtype(torch.float32)


def construction(torch):
    out = []

    def say(what, t):
        out.append("%s %s %d %d" % (what, hex(torch._C._dispatch_keys(t).raw_repr()), t.is_inference(), -1 if t.is_inference() else t._version))

    def refused(what, f):
        try:
            f()
            out.append(what + " done")
        except RuntimeError as e:
            out.append("%s %s" % (what, e))
    ones = torch.ones
    normal = ones(2)
    say("cpu", normal)
    say("long", ones(2, dtype=torch.int64))
    say("meta", torch.empty(2, device="meta"))
    with torch.no_grad():
        say("no_grad cpu", ones(2))
    normal.add_(1)
    with torch.inference_mode():
        inference = ones(2)
        say("inference cpu", inference)
        say("inference meta", torch.empty(2, device="meta"))
        view_inside = normal.view(2, 1)
        say("inference view of normal", view_inside)
        normal.add_(1)
        inference.add_(1)
        refused("inference requires_grad inside", lambda: inference.requires_grad_(True))
        inference.requires_grad_(False)
    say("normal after", normal)
    say("its view after", view_inside)
    say("view of inference", inference.view(2, 1))
    say("detach", normal.detach())
    say("data", normal.data)
    say("data of inference", inference.data)
    refused("version", lambda: inference._version)
    refused("write", lambda: inference.add_(1))
    refused("requires_grad", lambda: inference.requires_grad_(True))
    refused("requires_grad of long", lambda: ones(2, dtype=torch.int64).requires_grad_(True))
    refused("requires_grad of complex", lambda: ones(2, dtype=torch.complex64).requires_grad_(True))
    for n, t in types(torch).items():
        out.append("dtype %d %s %d %d %d" % (n, str(t)[len("torch."):], t.itemsize, t.is_floating_point, t.is_complex))
    return out


def same(ours, stock):
    """Errors: stock says more around ours at times (the operator, the type), or both point at a view that needs a copy."""
    return ours == stock or stock.startswith("error ") and (ours.removeprefix("error ") in stock)


def main():
    import torch
    warnings.simplefilter("ignore")  # complex32 is said to be experimental
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20260
    replay = Replay("tensor")
    asked = list(questions(torch, random.Random(seed))) + list(promotions(torch))
    differing = errors = 0
    for (command, stock), answer in zip(asked, replay.send_all([c for c, _ in asked])):
        ours = "\n".join(answer)
        errors += stock.startswith("error ")
        if not same(ours, stock):
            differing += 1
            if differing <= 20:
                print("%s\n  ours    %s\n  stock's %s" % (" ".join(command), ours, stock))
    stock, ours = construction(torch), replay.send("construction")
    for a, b in zip(ours + [""] * (len(stock) - len(ours)), stock + [""] * (len(ours) - len(stock))):
        if a != b:
            differing += 1
            print("ours %s\nstock's %s" % (a, b))
    replay.close()
    print("torch %s, seed %d: %d questions about shapes and types (%d are errors), %d facts about new tensors; %d differ"
          % (torch.__version__, seed, len(asked), errors, len(stock), differing))
    return 1 if differing else 0


if __name__ == "__main__":
    under_torch(main)
