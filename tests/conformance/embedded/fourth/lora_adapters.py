"""Low rank adapters (LoRA): freeze a trained network, adapt it to a shifted task, then merge the weights."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        if self.base.bias is not None:
            self.base.bias.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        self.base.weight += self.lora_B @ self.lora_A * self.scaling
        return self.base


def inject(module: nn.Module, r: int):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, r))
        else:
            inject(child, r)


def merge_all(module):
    for name, child in module.named_children():
        if isinstance(child, LoRALinear):
            setattr(module, name, child.merge())
        else:
            merge_all(child)


def count(model):
    train = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return train, sum(p.numel() for p in model.parameters())


def fit(model, x, y, steps, lr):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(256, 8)
y0 = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
y1 = torch.sin(x[:, :1] + 0.8) + 0.5 * x[:, 1:2] * x[:, 2:3]
net = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Sequential(nn.Linear(48, 48), nn.Tanh()), nn.Linear(48, 1))
print("pretrain loss %.3f" % fit(net, x, y0, 150, 1e-2))
with torch.no_grad():
    print("on new task before adapting %.3f" % F.mse_loss(net(x), y1).item())
print("trainable / all before", count(net))
inject(net, r=2)
print("trainable / all with lora", count(net))
print("adapted loss %.3f" % fit(net, x, y1, 150, 1e-2))
with torch.no_grad():
    before = net(x)
    merge_all(net)
    after = net(x)
print("merged equals adapter:", torch.allclose(before, after, atol=1e-4))
print([type(m).__name__ for m in net])
