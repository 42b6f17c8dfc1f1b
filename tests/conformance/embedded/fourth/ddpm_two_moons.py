"""Denoising diffusion on a two dimensional two-moons data set, with a deterministic DDIM sampler too."""
import math

import torch
import torch.nn as nn

T = 40
betas = torch.linspace(1e-4, 0.15, T)
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, dim=0)


def moons(n):
    t = torch.rand(n) * math.pi
    flip = torch.rand(n) < 0.5
    x = torch.where(flip, t.cos(), 1 - t.cos())
    y = torch.where(flip, t.sin(), 0.5 - t.sin())
    return torch.stack([x - 0.5, y - 0.25], dim=1) + 0.05 * torch.randn(n, 2)


class EpsNet(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.dim = dim
        self.inp = nn.Linear(2, dim)
        self.time = nn.Linear(dim, dim)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 2))

    def embed(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(1000) * torch.arange(half) / half)
        ang = t[:, None].float() * freqs[None]
        return torch.cat([ang.sin(), ang.cos()], dim=-1)

    def forward(self, x, t):
        return self.mid(self.inp(x) + self.time(self.embed(t)))


def q_sample(x0, t, noise):
    ab = alpha_bar[t].unsqueeze(-1)
    return ab.sqrt() * x0 + (1 - ab).sqrt() * noise


@torch.no_grad()
def p_sample_loop(model, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps = model(x, t)
        mean = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        x = mean + (betas[i].sqrt() * torch.randn_like(x) if i > 0 else 0)
    return x


@torch.no_grad()
def ddim(model, n, every=4):
    x = torch.randn(n, 2)
    steps = list(range(T - 1, -1, -every))
    for i, j in zip(steps, steps[1:] + [-1]):
        eps = model(x, torch.full((n,), i))
        x0 = (x - (1 - alpha_bar[i]).sqrt() * eps) / alpha_bar[i].sqrt()
        ab = alpha_bar[j] if j >= 0 else torch.tensor(1.0)
        x = ab.sqrt() * x0 + (1 - ab).sqrt() * eps
    return x


torch.manual_seed(0)
model = EpsNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
running = None
for step in range(1, 301):
    x0 = moons(128)
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    loss = (model(q_sample(x0, t, noise), t) - noise).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
    if step % 100 == 0:
        print(f"step {step} smoothed loss {running:.3f}")

real = moons(500)
for name, s in (("ddpm", p_sample_loop(model, 500)), ("ddim", ddim(model, 500))):
    nearest = torch.cdist(s, real).min(dim=1).values.mean()
    print(f"{name}: mean ({s[:, 0].mean():.2f}, {s[:, 1].mean():.2f}) distance to data {nearest:.2f}")
