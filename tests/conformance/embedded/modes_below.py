"""Modes below autograd, one in another: counting, changing and refusing calls."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Log(TorchDispatchMode):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        print(self.name, func, func._schema.name, len(args), sorted(kwargs or {}), torch.is_grad_enabled())
        return out


class Double(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out.to(torch.float64) if func is torch.ops.aten.ones.default else out


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
with Log("one"):
    y = (x * 2).relu().sum()
    y.backward()
print(x.grad)
with Log("outer"), Log("inner"):
    torch.ones(2, 2) @ torch.ones(2, 2)
with Log("around"), Double():
    print(torch.ones(2).dtype)
with torch.no_grad(), Log("quiet"):
    z = torch.zeros(3)
    z.add_(x, alpha=2)
    z[1:] = 5
    a, b = z.topk(2)
    print(a, b)
print(z, torch.linspace(0, 1, 3))


class Refuse(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket is torch.ops.aten.exp:
            raise ValueError("no " + str(func))
        return func(*args, **(kwargs or {}))


try:
    with Refuse():
        x.sin().exp()
except ValueError as e:
    print(e)
