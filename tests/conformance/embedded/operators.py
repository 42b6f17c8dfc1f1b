"""torch.library: an operator of our own with kernels at several keys, one of another, a fallthrough, and its removal."""
import torch

lib = torch.library.Library("small", "DEF")
lib.define("twice(Tensor x, *, int times=2) -> Tensor")
lib.define("split(Tensor x) -> (Tensor, Tensor)")
seen = []


def cpu(x, *, times=2):
    seen.append("CPU")
    return x * times


def autograd(keys, x, *, times=2):
    seen.append("Autograd")
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.small.twice(x, times=times)


lib.impl("twice", cpu, "CPU")
x = torch.ones(2, requires_grad=True)
print(torch.ops.small.twice(x).tolist(), torch.ops.small.twice(x, times=3).tolist(), torch.ops.small.twice.default(x).requires_grad)
lib.impl("twice", autograd, "Autograd", with_keyset=True)
print(torch.ops.small.twice(x).tolist(), seen)
lib.impl("split", lambda x: (x + 1, x - 1), "CompositeImplicitAutograd")
low, high = torch.ops.small.split(x)
print(low.grad_fn.name(), high.tolist())
print(torch.ops.aten.add.Tensor(x, x).tolist(), torch.ops.aten.mul(x, x).grad_fn.name())
try:
    torch.ops.small.twice("x")
except (TypeError, RuntimeError) as e:
    print(type(e).__name__)
