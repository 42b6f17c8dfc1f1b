"""Finds dead ReLU units and vanishing gradients with forward and backward hooks, then tries three remedies."""
from collections import OrderedDict
from contextlib import contextmanager

import torch
import torch.nn as nn

torch.manual_seed(66)


@contextmanager
def watch(model, kinds):
    """Collects the share of dead units and gradient norms of all layers of the given kinds."""
    stats, handles = OrderedDict(), []

    def forward_hook(name):
        def hook(module, args, out):
            dead = (out <= 0).all(dim=0).float().mean().item()
            stats.setdefault(name, {})["dead"] = dead
            stats[name]["mean"] = out.mean().item()
        return hook

    def backward_hook(name):
        def hook(module, grad_in, grad_out):
            stats[name]["grad"] = grad_out[0].norm().item()
        return hook

    for name, m in model.named_modules():
        if isinstance(m, kinds):
            handles.append(m.register_forward_hook(forward_hook(name)))
            handles.append(m.register_full_backward_hook(backward_hook(name)))
    try:
        yield stats
    finally:
        for h in handles:
            h.remove()


def net(act=nn.ReLU, init="bad", depth=4, width=32):
    layers = OrderedDict()
    for i in range(depth):
        lin = nn.Linear(10 if i == 0 else width, width)
        if init == "bad":
            nn.init.normal_(lin.weight, std=0.05)
            nn.init.constant_(lin.bias, -0.05)
        else:
            nn.init.kaiming_normal_(lin.weight, nonlinearity="relu")
            nn.init.zeros_(lin.bias)
        layers[f"lin{i}"] = lin
        layers[f"act{i}"] = act()
    layers["head"] = nn.Linear(width, 1)
    return nn.Sequential(layers)


def train(model, steps=30):
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


x = torch.randn(128, 10)
y = (x[:, :1] * x[:, 1:2]).sign() * 0.5 + x[:, 2:3]

variants = {
    "bad init, ReLU": lambda: net(),
    "good init, ReLU": lambda: net(init="good"),
    "bad init, LeakyReLU": lambda: net(act=lambda: nn.LeakyReLU(0.2)),
    "bad init, GELU": lambda: net(act=nn.GELU),
}
for label, make in variants.items():
    torch.manual_seed(1)
    model = make()
    with watch(model, (nn.ReLU, nn.LeakyReLU, nn.GELU)) as stats:
        nn.functional.mse_loss(model(x), y).backward()
    print(label)
    for name, s in stats.items():
        print(f"   {name}: dead {s['dead']:.2f}  mean {s['mean']:.4f}  grad norm {s['grad']:.2e}")
    print(f"   loss after training {train(model):.4f}")
left = sum(len(m._forward_hooks) + len(m._backward_hooks) for m in model.modules())
print("hooks left:", left)
