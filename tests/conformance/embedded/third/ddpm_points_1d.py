"""Train a tiny denoising diffusion model on a two-peaked one-dimensional distribution and sample from it."""
import math

import torch
from torch import nn

torch.manual_seed(0)
T = 20
betas = torch.linspace(1e-3, 0.3, T)
alphas = 1 - betas
alpha_bar = torch.cumprod(alphas, dim=0)
print("alpha_bar first %.4f last %.4f" % (alpha_bar[0], alpha_bar[-1]))


def sample_data(n):
    sign = torch.randint(0, 2, (n, 1)) * 2 - 1
    return sign * 2.0 + 0.2 * torch.randn(n, 1)


def q_sample(x0, t, noise):
    ab = alpha_bar[t].unsqueeze(1)
    return ab.sqrt() * x0 + (1 - ab).sqrt() * noise


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freq", torch.exp(-math.log(100.0) * torch.arange(dim // 2) / (dim // 2)))

    def forward(self, t):
        arg = t.float().unsqueeze(1) * self.freq
        return torch.cat([arg.sin(), arg.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, dim=16, hidden=48):
        super().__init__()
        self.time = TimeEmbedding(dim)
        self.net = nn.Sequential(nn.Linear(1 + dim, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                 nn.Linear(hidden, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(201):
    x0 = sample_data(128)
    t = torch.randint(0, T, (128,))
    eps = torch.randn_like(x0)
    loss = (model(q_sample(x0, t, eps), t) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step:3d} loss {loss.item():.2f}")


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 1)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps = model(x, t)
        mean = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        x = mean + betas[i].sqrt() * torch.randn_like(x) if i > 0 else mean
    return x


s = sample(500)
print("mean |x| %.1f" % s.abs().mean().item())
print("both peaks found:", bool(((s > 0).float().mean() - 0.5).abs() < 0.3))
