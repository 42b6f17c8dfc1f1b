"""A step of MAML: gradients through an inner gradient step, of many tasks at once."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
params = {k: v.detach().clone() for k, v in net.named_parameters()}
amplitude, phase = torch.rand(4, 1, 1) * 4 + 1, torch.rand(4, 1, 1) * 3
x = torch.rand(4, 6, 1) * 10 - 5
y = amplitude * torch.sin(x + phase)


def mse(params, x, y):
    return F.mse_loss(functional_call(net, params, (x,)), y)


def outer(params, x, y):
    inner = grad(mse)(params, x[:3], y[:3])
    adapted = {k: p - 0.1 * inner[k] for k, p in params.items()}
    return mse(adapted, x[3:], y[3:])


def meta_loss(params):
    return vmap(outer, in_dims=(None, 0, 0))(params, x, y).mean()


for step in range(2):
    g = grad(meta_loss)(params)
    params = {k: p - 0.01 * g[k] for k, p in params.items()}
    print(step, meta_loss(params).item(), {k: round(v.norm().item(), 4) for k, v in g.items()})
