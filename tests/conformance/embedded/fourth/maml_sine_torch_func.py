"""Model-agnostic meta-learning on sine curves with functional_call, grad and vmap."""
import math

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
params = {k: v.detach().clone().requires_grad_() for k, v in net.named_parameters()}


def mse(params, x, y):
    return ((functional_call(net, params, (x,)) - y) ** 2).mean()


def adapt(params, x, y, lr=0.05):
    g = grad(mse)(params, x, y)
    return {k: p - lr * g[k] for k, p in params.items()}


def task_loss(params, xs, ys, xq, yq):
    return mse(adapt(params, xs, ys), xq, yq)


def tasks(n, k=10):
    amp = torch.rand(n, 1, 1) * 2 + 0.5
    phase = torch.rand(n, 1, 1) * math.pi
    x = torch.rand(n, 2 * k, 1) * 6 - 3
    y = amp * torch.sin(x + phase)
    return x[:, :k], y[:, :k], x[:, k:], y[:, k:]


batched = vmap(task_loss, in_dims=(None, 0, 0, 0, 0))
xs, ys, xq, yq = tasks(50)
with torch.no_grad():
    print("before: %.3f" % batched(params, xs, ys, xq, yq).mean().item())

# meta training, plain Adam written out to stay functional
m = {k: torch.zeros_like(v) for k, v in params.items()}
v2 = {k: torch.zeros_like(v) for k, v in params.items()}
for it in range(1, 61):
    loss = batched(params, *tasks(16)).mean()
    grads = torch.autograd.grad(loss, list(params.values()))
    with torch.no_grad():
        for (k, p), g in zip(params.items(), grads):
            m[k].mul_(0.9).add_(g, alpha=0.1)
            v2[k].mul_(0.99).addcmul_(g, g, value=0.01)
            mh = m[k] / (1 - 0.9 ** it)
            vh = v2[k] / (1 - 0.99 ** it)
            p.sub_(0.01 * mh / (vh.sqrt() + 1e-8))
    if it % 20 == 0:
        print("meta step %d: query loss %.3f" % (it, loss.item()))

with torch.no_grad():
    zero = vmap(mse, in_dims=(None, 0, 0))(params, xq, yq).mean().item()
    one = batched(params, xs, ys, xq, yq).mean().item()
print("without adaptation %.3f, after one step %.3f" % (zero, one))
