"""Write a custom autograd.Function for a straight-through sign and a clipped swish, with gradcheck."""
import torch
from torch.autograd import Function, gradcheck


class StraightThroughSign(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * (x.abs() <= 1).to(grad_out.dtype)


class Swish(Function):
    @staticmethod
    def forward(ctx, x, beta):
        s = torch.sigmoid(beta * x)
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, grad):
        x, s = ctx.saved_tensors
        dx = s + ctx.beta * x * s * (1 - s)
        return grad * dx, None


def main():
    torch.manual_seed(0)
    x = torch.tensor([-2.0, -0.5, 0.0, 0.7, 3.0], requires_grad=True)
    y = StraightThroughSign.apply(x)
    (y * torch.arange(1.0, 6.0)).sum().backward()
    print("sign", y.tolist())
    print("grad", x.grad.tolist())

    z = torch.randn(6, dtype=torch.double, requires_grad=True)
    print("gradcheck swish:", gradcheck(lambda t: Swish.apply(t, 1.5), (z,), eps=1e-6, atol=1e-5))
    ours = Swish.apply(z, 1.0)
    ref = torch.nn.functional.silu(z)
    print("same as silu:", torch.allclose(ours, ref))

    # binarised regression with the straight-through estimator
    w = torch.randn(8, requires_grad=True)
    target = torch.sign(torch.randn(8))
    inputs = torch.randn(64, 8)
    opt = torch.optim.SGD([w], lr=0.1)
    for i in range(30):
        pred = inputs @ StraightThroughSign.apply(w)
        loss = ((pred - inputs @ target) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 10 == 0:
            print(f"{i} {loss.item():.4f}")
    print("recovered bits:", int((torch.sign(w) == target).sum()), "of 8")


main()
