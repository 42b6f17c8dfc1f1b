"""Jacobians by jacrev: of a small net, of several inputs and outputs, in chunks, of themselves; with parts of the inputs batched."""
import torch
import torch.nn as nn
from torch.func import functional_call, jacrev, vmap

torch.manual_seed(7)
x = torch.randn(3)
print(jacrev(torch.sin)(x), jacrev(lambda v: v.exp() * v[0])(x))
print(jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(x, torch.randn(3)))
print(jacrev(lambda v: {"square": v ** 2, "sum": v.sum()})(x))
print(jacrev(jacrev(lambda v: (v ** 3).sum() + v[0] * v[1]))(x))
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
params = {k: v.detach() for k, v in net.named_parameters()}
full = jacrev(lambda p: functional_call(net, p, (x,)))(params)
print({k: tuple(v.shape) for k, v in full.items()}, full["2.bias"])
batch = torch.randn(5, 3)
by_sample = vmap(jacrev(net))(batch)
print(by_sample.shape, torch.allclose(by_sample[0], jacrev(net)(batch[0]), atol=1e-6))
print(torch.allclose(jacrev(net, chunk_size=1)(x), jacrev(net)(x), atol=1e-6), jacrev(net, chunk_size=2)(batch[:2]).shape)
jacobian, aux = jacrev(lambda v: (v.cos(), v), has_aux=True)(x)
print(jacobian, aux)
print(jacrev(lambda m: torch.linalg.inv(m))(torch.eye(2) + 0.1).shape)
