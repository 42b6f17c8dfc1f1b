"""Subclasses of tensors: what __torch_function__ is asked, what stays of their class, modes of torch functions."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)


class Logged(torch.Tensor):
    names = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.names.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Plain(torch.Tensor):
    pass


def told(what, f):
    Logged.names = []
    try:
        r = f()
        kinds = [type(x).__name__ for x in r] if isinstance(r, (tuple, list)) else type(r).__name__
    except Exception as e:
        kinds = type(e).__name__ + ": " + str(e)[:150]
    print(what, kinds, Logged.names)


x = torch.randn(2, 3)
t = x.as_subclass(Logged)
w = torch.randn(4, 3)
p = Plain([1.0, 2.0])
print(type(p).__name__, type(p * 2).__name__, type(p.sum()).__name__, type(torch.stack([p, p])).__name__, type(p.max(0)).__name__, type(p.max(0)[0]).__name__)
for what, f in {
        "add": lambda: t + 1, "radd": lambda: 1 + t, "rsub": lambda: 1 - t, "mul": lambda: x * t, "neg": lambda: -t, "index": lambda: t[0], "shape": lambda: t.shape, "size": lambda: t.size(0),
        "dtype": lambda: t.dtype, "T": lambda: t.T, "matmul": lambda: t @ w.T, "relu": lambda: F.relu(t), "linear": lambda: F.linear(t, w), "sum": lambda: t.sum(), "stack": lambda: torch.stack([x, t]),
        "cat": lambda: torch.cat((t, t)), "like": lambda: torch.ones_like(t), "eq": lambda: t == 1, "gt": lambda: t > 0, "item": lambda: t[0, 0].item(), "float": lambda: float(t[0, 0]),
        "bool": lambda: bool(t[0, 0] > 5), "to": lambda: t.to(torch.float64), "clone": lambda: t.clone(), "softmax": lambda: F.softmax(t, dim=0), "einsum": lambda: torch.einsum("ij,kj->ik", t, w),
        "norm": lambda: t.norm(), "torch.norm": lambda: torch.norm(t), "mse": lambda: F.mse_loss(t, x), "dropout": lambda: F.dropout(t, 0.0), "len": lambda: len(t), "max": lambda: t.max(dim=1),
        "split": lambda: t.split(1), "chunk": lambda: torch.chunk(t, 2), "where": lambda: torch.where(t > 0, t, x), "pow": lambda: t ** 2, "div": lambda: 2 / t, "detach": lambda: t.detach(),
        "is": lambda: t.requires_grad, "grad": lambda: t.grad, "dim": lambda: t.dim(), "ndim": lambda: t.ndim, "tolist": lambda: t.tolist(), "iter": lambda: list(t), "unbind": lambda: t.unbind(),
        "layer_norm": lambda: F.layer_norm(t, (3,)), "cross_entropy": lambda: F.cross_entropy(t, torch.tensor([0, 1])), "torch.tensor": lambda: torch.is_tensor(t), "module": lambda: torch.nn.Linear(3, 2)(t),
        "invert": lambda: ~(t > 0), "contains": lambda: 5.0 in t, "view": lambda: t.view(-1), "reshape": lambda: torch.reshape(t, (3, 2)), "type": lambda: t.type(torch.float64), "new": lambda: t.new_zeros(2),
        "rand_like": lambda: torch.rand_like(t), "numel": lambda: t.numel(), "allclose": lambda: torch.allclose(t, x), "repr": lambda: repr(t), "format": lambda: "{:.3f}".format(t[0, 0])}.items():
    told(what, f)


def write():
    u = t.clone()
    Logged.names = []
    u += 1
    u[0] = 3
    u.mul_(2)
    u[u > 5] = 0
    return u


told("in place", write)


def gradients():
    u = torch.randn(3).as_subclass(Logged).requires_grad_()
    Logged.names = []
    (u * u).sum().backward()
    return u.grad


told("backward", gradients)


class Unit:
    """No tensor, but torch's functions take it."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add:
            a, b = args
            if a.unit != b.unit:
                raise ValueError("units differ: %s and %s" % (a.unit, b.unit))
            return cls(torch.add(a.value, b.value), a.unit)
        if func is torch.mean:
            return cls(torch.mean(args[0].value), args[0].unit)
        return NotImplemented

    def __repr__(self):
        return "%s %s" % (self.value, self.unit)


a, b = Unit(torch.tensor([1.0, 2.0]), "m"), Unit(torch.tensor([3.0, 4.0]), "m")
print(torch.add(a, b), torch.mean(b))
for f in (lambda: torch.add(a, Unit(x, "s")), lambda: torch.mul(a, b), lambda: F.relu(a)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e)[:160])

with torch._C.DisableTorchFunctionSubclass():
    print(type(t + 1).__name__)
print(isinstance(t, torch.Tensor), torch.overrides.has_torch_function((t,)), torch.overrides.has_torch_function((x, w)), torch.overrides.is_tensor_like(a))


class Names(torch.overrides.TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


with Names() as names:
    y = torch.ones(2, 3) + x
    F.relu(y).sum()
    y.shape
    F.linear(y, y)
print(names.seen)
print(torch.ones(2).add(1))
print(t)
