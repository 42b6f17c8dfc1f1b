"""Freeze a pretrained MLP, add low-rank adapters to its linear layers, finetune them, and merge them back."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        out = nn.Linear(self.base.in_features, self.base.out_features)
        out.weight.copy_(self.base.weight + self.scale * self.B @ self.A)
        out.bias.copy_(self.base.bias)
        return out


def replace(module, kind, fn):
    for name, child in module.named_children():
        if isinstance(child, kind):
            setattr(module, name, fn(child))
        else:
            replace(child, kind, fn)
    return module


def fit(model, x, y, lr, steps):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(params, lr=lr)
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def trainable(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad), sum(p.numel() for p in model.parameters())


torch.manual_seed(0)
x = torch.randn(200, 6)
y_old = torch.tanh(x[:, :1]) + x[:, 1:2] * 0.5
y_new = y_old + 0.7 * x[:, 2:3]

net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
print("pretraining loss below 0.05:", fit(net, x, y_old, 0.01, 100) < 0.05)
print("error on the new task %.2f" % F.mse_loss(net(x), y_new).item())
frozen_copy = net[0].weight.detach().clone()

with torch.no_grad():
    before = net(x)
replace(net, nn.Linear, lambda m: LoRALinear(m))
print("adapters start as identity:", torch.allclose(before, net(x), atol=1e-5))
print("trainable %d of %d" % trainable(net))

loss = fit(net, x, y_new, 0.02, 100)
print("after adaptation below 0.1:", loss < 0.1)
print("base weights untouched:", torch.equal(frozen_copy, net[0].base.weight))

with torch.no_grad():
    adapted = net(x)
replace(net, LoRALinear, lambda m: m.merge())
print(net)
print("merged equals adapted:", torch.allclose(adapted, net(x), atol=1e-4))
