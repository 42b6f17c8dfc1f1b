"""An operator of our own, defined and given kernels from Python, without and with autograd.

`peel_demo::scale` has a kernel for the CPU key only. Nothing is registered at the Autograd key, so
PyTorch's fallback stands there: it makes no node, lets the call through, and in backward only warns.
The gradient still flows, because the operators *inside* our kernel are differentiable: the node that
comes out is a MulBackward0, made by aten::mul one level deeper.

`peel_demo::cube` hides its work from autograd (it goes through NumPy's memory) and says itself how to
differentiate: a torch.autograd.Function is registered at the Autograd key and calls the CPU kernel
below it.
"""
import warnings

import torch

# What the fallback says about `scale` in backward. True, and the point of this sample.
warnings.filterwarnings("ignore", message=".*an autograd kernel was not registered")

lib = torch.library.Library("peel_demo", "DEF")
lib.define("scale(Tensor x, float factor) -> Tensor")
lib.define("cube(Tensor x) -> Tensor")


# ---- without autograd: one kernel, at the CPU key
def scale_cpu(x, factor):
    return x * factor


lib.impl("scale", scale_cpu, "CPU")


# ---- with autograd: one kernel at the CPU key, one above it at the Autograd key
def cube_cpu(x):
    return torch.from_numpy(x.detach().numpy() ** 3)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        with torch._C._AutoDispatchBelowAutograd():   # go on to the next layer, as a C++ kernel would
            return torch.ops.peel_demo.cube(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


lib.impl("cube", Cube.apply, "Autograd")
lib.impl("cube", cube_cpu, "CPU")

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

y = torch.ops.peel_demo.scale(x, 10.0)
print("scale:", y.tolist(), y.grad_fn.name())
y.sum().backward()
print("gradient:", x.grad.tolist())

x.grad = None
y = torch.ops.peel_demo.cube(x)
print("cube: ", y.tolist(), y.grad_fn.name())
y.sum().backward()
print("gradient:", x.grad.tolist())
