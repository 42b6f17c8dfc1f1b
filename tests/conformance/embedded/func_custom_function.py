"""torch.autograd.Function inside of grad, nested grad and vmap: with a vmap of its own, and with one that is made for it."""
import torch
from torch.func import grad, jacrev, vjp, vmap


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x ** 3, 3 * x ** 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx, grad, grad_slope):
        x, slope = ctx.saved_tensors
        return grad * slope + grad_slope * 6 * x


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * w, (grad * x).sum()

    @staticmethod
    def vmap(info, in_dims, x, w):
        x_dim, w_dim = in_dims
        print("vmap", info.batch_size, in_dims)
        if w_dim is not None:
            w = w.view(-1, *[1] * (x.dim() - 1))
        return Scale.apply(x.movedim(x_dim, 0), w), 0


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class NoRule(Cube):
    generate_vmap_rule = False


x = torch.tensor([1.0, 2.0, 3.0])
cube = lambda x: Cube.apply(x)[0]
print(grad(lambda x: cube(x).sum())(x), vmap(grad(cube))(x), grad(lambda s: grad(cube)(s))(torch.tensor(2.0)))
print(vmap(cube)(x), grad(lambda x: vmap(cube)(x).sum())(x), jacrev(cube)(x), vjp(cube, x)[1](torch.ones(3)))
print(vmap(vmap(grad(cube)))(x.expand(2, 3)))
print(vmap(Scale.apply, (0, None))(torch.ones(2, 3), torch.tensor(2.0)), vmap(Scale.apply)(torch.ones(2, 3), torch.tensor([2.0, 3.0])))
print(grad(lambda x, w: Scale.apply(x, w).sum(), (0, 1))(x, torch.tensor(2.0)))
y = x.clone().requires_grad_()
print(torch.autograd.grad(cube(y).sum(), y)[0], Old.apply(y))
for wrong in (lambda: grad(lambda x: Old.apply(x).sum())(x), lambda: vmap(lambda x: NoRule.apply(x)[0])(x)):
    try:
        wrong()
    except RuntimeError as e:
        print(str(e)[:120])
