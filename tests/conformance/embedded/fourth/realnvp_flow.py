"""Density estimation with a RealNVP normalizing flow of affine coupling layers."""
import math

import torch
import torch.nn as nn
from torch.distributions import MultivariateNormal


class Coupling(nn.Module):
    def __init__(self, mask, hidden=24):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2))

    def forward(self, x):  # data -> latent
        xm = x * self.mask
        s, t = self.s(xm) * (1 - self.mask), self.t(xm) * (1 - self.mask)
        return xm + (1 - self.mask) * (x - t) * torch.exp(-s), -s.sum(1)

    def inverse(self, z):
        zm = z * self.mask
        s, t = self.s(zm) * (1 - self.mask), self.t(zm) * (1 - self.mask)
        return zm + (1 - self.mask) * (z * torch.exp(s) + t)


class RealNVP(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        masks = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])]
        self.layers = nn.ModuleList([Coupling(masks[i % 2]) for i in range(n)])
        self.prior = MultivariateNormal(torch.zeros(2), torch.eye(2))

    def log_prob(self, x):
        logdet = torch.zeros(x.size(0))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return self.prior.log_prob(x) + logdet

    @torch.no_grad()
    def sample(self, n):
        x = self.prior.sample((n,))
        for layer in reversed(self.layers):
            x = layer.inverse(x)
        return x


def banana(n):
    a = torch.randn(n) * 1.2
    b = 0.5 * a ** 2 - 1 + 0.3 * torch.randn(n)
    return torch.stack([a, b], 1)


torch.manual_seed(0)
flow = RealNVP()
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(1, 121):
    loss = -flow.log_prob(banana(128)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"step {step}: nll {loss.item():.3f}")

h = 0.5 * (1 + math.log(2 * math.pi))
print("entropy of the data %.3f" % (2 * h + math.log(1.2) + math.log(0.3)))
x = banana(8)
z = x
with torch.no_grad():
    for layer in flow.layers:
        z, _ = layer(z)
    for layer in reversed(flow.layers):
        z = layer.inverse(z)
print("invertible:", torch.allclose(x, z, atol=1e-3))
s = flow.sample(1000)
print("sample mean", ["%.2f" % v for v in s.mean(0).tolist()], "std", ["%.2f" % v for v in s.std(0).tolist()])

# the density should integrate to about one
g = torch.linspace(-5, 8, 120)
with torch.no_grad():
    grid = torch.cartesian_prod(g, g)
    total = flow.log_prob(grid).exp().sum() * (g[1] - g[0]) ** 2
print("integral %.2f" % total.item())
