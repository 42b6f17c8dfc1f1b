"""torch.autograd.Function in several shapes: plain, two outputs, in-place, differentiable twice, inside no_grad, with hooks."""
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x ** 2


class Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        ctx.mark_non_differentiable(mask := x > 0)
        return x * scale, mask

    @staticmethod
    def backward(ctx, grad, _):
        return grad * ctx.scale, None


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


torch.manual_seed(9)
x = torch.randn(4, requires_grad=True)
y, mask = Split.apply(Cube.apply(x), 3.0)
y = AddOne.apply(y.clone())
y.register_hook(lambda g: g * 2)
(first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), x)
print(first.tolist(), second.tolist(), mask.tolist(), y.grad_fn.name())
with torch.no_grad():
    print(Cube.apply(x).requires_grad)
torch.utils.checkpoint.checkpoint(lambda t: Cube.apply(t).sin().sum(), x, use_reentrant=False).backward()
print(x.grad.tolist())
x.grad = None
torch.utils.checkpoint.checkpoint(lambda t: t.exp().sum(), x, use_reentrant=True).backward()
print(x.grad.tolist())
