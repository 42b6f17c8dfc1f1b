"""Implements sharpness-aware minimisation as an Optimizer subclass and compares it to plain SGD under label noise."""
from __future__ import annotations
from typing import Callable, Iterable

import torch
from torch import nn
from torch.optim import Optimizer


class SAM(Optimizer):
    """Two-step SAM: climb to w + rho * g/|g|, take the gradient there, descend from w with momentum."""

    def __init__(self, params: Iterable, lr: float = 0.1, rho: float = 0.05, momentum: float = 0.9):
        if rho < 0:
            raise ValueError(f"rho should be non-negative, not {rho}")
        super().__init__(params, dict(lr=lr, rho=rho, momentum=momentum))

    def _params(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    yield group, p

    @torch.no_grad()
    def step(self, closure: Callable[[], torch.Tensor]) -> torch.Tensor:
        with torch.enable_grad():
            loss = closure()
        norm = torch.stack([p.grad.norm() for _, p in self._params()]).norm()
        for group, p in self._params():
            e = p.grad * (group["rho"] / (norm + 1e-12))
            p.add_(e)
            self.state[p]["e"] = e
        with torch.enable_grad():
            closure()
        for group, p in self._params():
            st = self.state[p]
            p.sub_(st.pop("e"))
            buf = st.setdefault("momentum_buffer", torch.zeros_like(p))
            buf.mul_(group["momentum"]).add_(p.grad)
            p.add_(buf, alpha=-group["lr"])
        return loss


def rings(n: int, flip: float, gen: torch.Generator):
    r = torch.rand(n, generator=gen) * 2
    a = torch.rand(n, generator=gen) * 6.2832
    x = torch.stack([r * a.cos(), r * a.sin()], 1)
    y = (r > 1).long()
    noise = torch.rand(n, generator=gen) < flip
    return x, torch.where(noise, 1 - y, y)


def sharpness(model: nn.Module, loss_fn, radius: float = 1.0, trials: int = 10) -> float:
    gen = torch.Generator().manual_seed(0)
    flat = nn.utils.parameters_to_vector(model.parameters()).detach()
    base = loss_fn().item()
    rise = []
    for _ in range(trials):
        d = torch.randn(flat.shape, generator=gen)
        nn.utils.vector_to_parameters(flat + radius * d / d.norm(), model.parameters())
        rise.append(loss_fn().item() - base)
    nn.utils.vector_to_parameters(flat, model.parameters())
    return sum(rise) / trials


gen = torch.Generator().manual_seed(1)
x, y = rings(80, 0.15, gen)
xt, yt = rings(400, 0.0, gen)
for name in ("sgd", "sam"):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = (torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9) if name == "sgd"
           else SAM(model.parameters(), lr=0.05, rho=0.1))

    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for _ in range(80):
        loss = opt.step(closure)
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
        sharp = sharpness(model, lambda: nn.functional.cross_entropy(model(x), y))
    print(f"{name}: train loss {loss.item():.4f}  clean test accuracy {acc:.3f}  rise nearby {sharp:.4f}")
print("state keys kept by SAM:", sorted({k for s in opt.state.values() for k in s}))
