"""Write autograd Functions by hand (swish, clipped exp, straight-through sign) and verify them with gradcheck."""
import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)  # recompute the sigmoid in backward, so that double backward works
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return grad_out * (s + ctx.beta * x * s * (1 - s)), None


class ClippedExp(Function):
    """New style: separate forward and setup_context."""

    @staticmethod
    def forward(x, limit):
        return x.clamp(max=limit).exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, limit = inputs
        ctx.save_for_backward(x, output)
        ctx.limit = limit

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * (x < ctx.limit), None


class SignSTE(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.masked_fill(x.abs() > 1, 0)


class BadCube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x ** 2  # wrong on purpose


torch.manual_seed(0)
x = torch.randn(5, dtype=torch.double, requires_grad=True)
print("swish gradcheck", gradcheck(lambda t: Swish.apply(t, 1.5), (x,)))
print("swish gradgradcheck", gradgradcheck(lambda t: Swish.apply(t, 1.5), (x,)))
print("exp gradcheck", gradcheck(lambda t: ClippedExp.apply(t, 3.0), (x,)))
print("bad cube gradcheck", gradcheck(BadCube.apply, (x,), raise_exception=False))

big = torch.tensor([0.0, 2.0, 5.0], requires_grad=True)
y = ClippedExp.apply(big, 3.0)
y.sum().backward()
print("clipped exp", [round(v, 3) for v in y.tolist()], "grad", [round(v, 3) for v in big.grad.tolist()])

w = torch.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)
SignSTE.apply(w).mul(torch.arange(1.0, 5.0)).sum().backward()
print("sign grad", w.grad.tolist())

# train a binary-weight linear model with the straight-through estimator
true = torch.tensor([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
X = torch.randn(64, 6)
t = X @ true
latent = (0.1 * torch.randn(6)).requires_grad_(True)
for step in range(30):
    loss = ((X @ SignSTE.apply(latent) - t) ** 2).mean()
    g, = torch.autograd.grad(loss, latent)
    latent.data -= 0.02 * g
    if step % 10 == 0:
        print("step %d loss %.3f" % (step, loss.item()))
print("recovered", bool((latent.sign() == true).all()))
