"""Moving averages of weights, gradient accumulation, noise, freezing half of a network."""
import copy

import torch
from torch import nn

torch.manual_seed(14)
net = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1))
ema = copy.deepcopy(net)
for p in ema.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for step in range(4):
    loss = ((net(x) - y) ** 2).mean() / 2
    loss.backward()
    if step % 2 == 1:
        total = torch.sqrt(sum((p.grad ** 2).sum() for p in net.parameters()))
        opt.step()
        opt.zero_grad()
        for e, p in zip(ema.parameters(), net.parameters()):
            e.lerp_(p.detach(), 0.1)
        print(step, loss.item(), total.item())
with torch.no_grad():
    for p in net.parameters():
        p.add_(torch.randn_like(p), alpha=0.01)
print((ema(x) - net(x)).abs().mean().item(), torch.nn.utils.parameters_to_vector(ema.parameters()).shape)
