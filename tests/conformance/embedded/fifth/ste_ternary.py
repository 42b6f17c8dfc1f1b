"""Trains a network with ternary weights through a straight-through estimator written as a custom autograd Function."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function

torch.manual_seed(1010)


class Ternarize(Function):
    """w -> s * {-1, 0, 1}; backward passes the gradient where |w| <= 1 (times one), else blocks it."""

    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        thr = 0.7 * w.abs().mean()
        code = torch.where(w.abs() > thr, w.sign(), torch.zeros_like(w))
        scale = w.abs()[code != 0].mean()
        ctx.mark_non_differentiable(code)
        return code * scale, code

    @staticmethod
    def backward(ctx, grad, _):
        (w,) = ctx.saved_tensors
        return grad * (w.abs() <= 1)


class Clip(Function):
    """Fake 4-bit activation: quantise [0, alpha] to 16 levels, gradient for alpha as in PACT."""

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x, alpha)
        step = alpha / 15
        return torch.round(x.clamp(min=0).minimum(alpha) / step) * step

    @staticmethod
    def backward(ctx, grad):
        x, alpha = ctx.saved_tensors
        inside = (x > 0) & (x < alpha)
        return grad * inside, (grad * (x >= alpha)).sum().reshape(alpha.shape)


class TernaryLinear(nn.Linear):
    def forward(self, x):
        w, self.code = Ternarize.apply(self.weight)
        return F.linear(x, w, self.bias)


class QuantAct(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        return Clip.apply(x, self.alpha)


def mlp(quant):
    lin, act = (TernaryLinear, QuantAct) if quant else (nn.Linear, nn.ReLU)
    return nn.Sequential(nn.Linear(2, 64), act(), lin(64, 64), act(), nn.Linear(64, 3))


def pinwheel(n):
    y = torch.randint(0, 3, (n,))
    r = torch.rand(n) * 2
    a = 2.0944 * y + 0.8 * r + 0.2 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1), y


x, y = pinwheel(300)
xt, yt = pinwheel(300)
w = torch.tensor([-2.0, -0.3, 0.05, 0.6], requires_grad=True)
q, code = Ternarize.apply(w)
(q * torch.arange(1.0, 5)).sum().backward()
print("codes", code.tolist(), "values", [f"{v:.3f}" for v in q.tolist()], "grad", w.grad.tolist())

for quant in (False, True):
    torch.manual_seed(3)
    net = mlp(quant)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(50):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"{'ternary' if quant else 'float':8s} loss {loss.item():.4f} test accuracy {acc:.3f}")

code = net[2].code
print("share of -1, 0, 1:", [round((code == v).float().mean().item(), 2) for v in (-1, 0, 1)])
print("alphas: %.3f %.3f" % (net[1].alpha, net[3].alpha))
bits = code.numel() * 1.585 / 8
print("middle layer: %d bytes as float, about %d as ternary" % (code.numel() * 4, bits))
