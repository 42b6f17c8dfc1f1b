"""Learns a two-dimensional spiral with a small denoising diffusion model and samples from it by DDIM."""
import math
import torch
import torch.nn as nn

torch.manual_seed(0)
T = 50

# cosine noise schedule
s = torch.linspace(0, 1, T + 1)
f = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
alpha_bar = (f / f[0]).clamp(min=1e-4)


def spiral(n):
    u = torch.rand(n).sqrt() * 3 * math.pi
    p = torch.stack([u.cos(), u.sin()], 1) * u[:, None] / (3 * math.pi)
    return 2 * p + 0.03 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=64, freqs=8):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, math.log(100), freqs)))
        self.inp = nn.Linear(2 + 2 * freqs, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)
        self.act = nn.SiLU()

    def forward(self, x, t):
        ang = (t.float() / T)[:, None] * self.freqs
        h = torch.cat([x, ang.sin(), ang.cos()], dim=1)
        h = self.act(self.inp(h))
        h = h + self.act(self.mid(h))
        return self.out(h)


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
data = spiral(2000)
avg = None
for step in range(250):
    x0 = data[torch.randint(0, len(data), (256,))]
    t = torch.randint(1, T + 1, (256,))
    a = alpha_bar[t][:, None]
    eps = torch.randn_like(x0)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * eps
    loss = (model(xt, t) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else 0.97 * avg + 0.03 * loss.item()
    if (step + 1) % 50 == 0:
        print(f"step {step + 1}: smoothed loss {avg:.3f}")


@torch.no_grad()
def ddim(n, steps=10):
    x = torch.randn(n, 2)
    ts = torch.linspace(T, 0, steps + 1).round().long()
    for t, t_next in zip(ts[:-1], ts[1:]):
        a, b = alpha_bar[t], alpha_bar[t_next]
        eps = model(x, t.expand(n))
        x0 = ((x - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-2.5, 2.5)
        x = b.sqrt() * x0 + (1 - b).sqrt() * eps
    return x


samples = ddim(300)
near = torch.cdist(samples, data).amin(1)
noise = torch.cdist(torch.randn(300, 2), data).amin(1)
print(f"mean distance to the spiral: samples {near.mean().item():.3f}, pure noise {noise.mean().item():.3f}")
print("std of samples %.2f, of data %.2f" % (samples.std().item(), data.std().item()))
