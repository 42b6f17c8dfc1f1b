"""Implement SGD with momentum, RMSprop and Adam as Optimizer subclasses and compare them with torch.optim."""
import torch
from torch.optim import Optimizer


class MySGD(Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                buf = self.state[p].setdefault("buf", torch.zeros_like(p))
                buf.mul_(group["momentum"]).add_(p.grad)
                p.add_(buf, alpha=-group["lr"])


class MyRMSprop(Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                sq = self.state[p].setdefault("sq", torch.zeros_like(p))
                sq.mul_(group["alpha"]).addcmul_(p.grad, p.grad, value=1 - group["alpha"])
                p.addcdiv_(p.grad, sq.sqrt().add_(group["eps"]), value=-group["lr"])


class MyAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                st = self.state[p]
                if not st:
                    st["t"] = 0
                    st["m"], st["v"] = torch.zeros_like(p), torch.zeros_like(p)
                st["t"] += 1
                st["m"].lerp_(p.grad, 1 - b1)
                st["v"].mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
                mhat = st["m"] / (1 - b1 ** st["t"])
                vhat = st["v"] / (1 - b2 ** st["t"])
                p.sub_(group["lr"] * mhat / (vhat.sqrt() + group["eps"]))


def minimise(opt_cls, steps=50, **kw):
    p = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
    opt = opt_cls([p], **kw)
    for _ in range(steps):
        opt.zero_grad()
        f = p[0] ** 2 + 5 * p[1] ** 2 + torch.sin(p[0] * p[1])
        f.backward()
        opt.step()
    return p.detach(), f.item()


torch.manual_seed(0)
pairs = [
    ("sgd", MySGD, torch.optim.SGD, dict(lr=0.02, momentum=0.8)),
    ("rmsprop", MyRMSprop, torch.optim.RMSprop, dict(lr=0.05)),
    ("adam", MyAdam, torch.optim.Adam, dict(lr=0.1)),
]
for name, mine, ref, kw in pairs:
    p1, f1 = minimise(mine, **kw)
    p2, f2 = minimise(ref, **kw)
    print(f"{name:8s} mine {f1:.4f} torch {f2:.4f} same point: {torch.allclose(p1, p2, atol=1e-4)}")
