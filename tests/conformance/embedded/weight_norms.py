"""Weights as directions and lengths, the old way and as a parametrization; convolutions padded by a word."""
import warnings

import torch
from torch import nn
from torch.nn.utils import parametrizations

warnings.simplefilter("ignore")
torch.manual_seed(5)
x = torch.randn(2, 3, 6)
net = nn.Sequential(parametrizations.weight_norm(nn.Conv1d(3, 4, 3, padding="same")), nn.ReLU(), nn.utils.weight_norm(nn.Conv1d(4, 4, 2, padding="same", dilation=2), dim=1))
print(net, sorted(net.state_dict()))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss)
print(net[0].parametrizations.weight.original0.grad.flatten(), net[2].weight_g.grad.flatten())
last = parametrizations.weight_norm(nn.Linear(6, 2), dim=1)
weight = last.weight
parts = list(last.parametrizations.weight.parameters())
grads = torch.autograd.grad(last(x).sum(), parts, create_graph=True)
print(torch.autograd.grad(sum(g.pow(2).sum() for g in grads), parts))
print(weight.norm(dim=0), [g.shape for g in grads])
nn.utils.remove_weight_norm(net[2])
print(net[2], sorted(net.state_dict()))
print(nn.Conv2d(3, 2, 3, padding="valid", bias=False)(torch.ones(1, 3, 4, 4)).shape, nn.Conv2d(3, 2, (3, 2), padding="same")(torch.ones(3, 4, 4)).shape)
for wrong in (lambda: nn.Conv2d(3, 2, 3, padding="same", stride=2), lambda: nn.Conv2d(3, 2, 3, padding="full"), lambda: nn.functional.conv2d(torch.ones(1, 3, 4, 4), torch.ones(2, 3, 2, 2), padding="same", stride=2)):
    try:
        wrong()
    except (ValueError, RuntimeError) as e:
        print(type(e).__name__, e)
