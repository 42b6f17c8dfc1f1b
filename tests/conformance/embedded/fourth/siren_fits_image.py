"""Compare ReLU, Fourier features and sine activations (SIREN) in fitting one small picture."""
import math
from functools import partial

import torch
from torch import nn


class Sine(nn.Module):
    def __init__(self, w0=15.0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


@torch.no_grad()
def siren_init(m, w0=15.0):
    if isinstance(m, nn.Linear):
        n = m.in_features
        bound = 1 / n if n == 2 else math.sqrt(6 / n) / w0
        m.weight.uniform_(-bound, bound)


class Fourier(nn.Module):
    def __init__(self, n=16, scale=3.0):
        super().__init__()
        self.register_buffer("B", torch.randn(2, n) * scale)

    def forward(self, x):
        p = 2 * math.pi * x @ self.B
        return torch.cat([p.sin(), p.cos()], -1)


def build(kind):
    if kind == "relu":
        return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    if kind == "fourier":
        return nn.Sequential(Fourier(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    return nn.Sequential(nn.Linear(2, 32), Sine(), nn.Linear(32, 32), Sine(), nn.Linear(32, 1)).apply(partial(siren_init, w0=15.0))


def picture(n=20):
    lin = torch.linspace(-1, 1, n)
    yy, xx = torch.meshgrid(lin, lin, indexing="ij")
    img = torch.sin(9 * xx) * torch.cos(7 * yy) + ((xx ** 2 + yy ** 2) < 0.3).float()
    return torch.stack([xx, yy], -1).view(-1, 2), img.view(-1, 1)


coords, target = picture()
for kind in ("relu", "fourier", "siren"):
    torch.manual_seed(0)
    model = build(kind)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(80):
        loss = nn.functional.mse_loss(model(coords), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    psnr = 10 * math.log10(4 / loss.item())
    print(f"{kind:8s} mse {loss.item():.3f} psnr {psnr:.1f} dB")

# gradient of the fitted SIREN with respect to the coordinates
coords.requires_grad_(True)
out = model(coords)
g = torch.autograd.grad(out.sum(), coords)[0]
print("gradient field", tuple(g.shape), "mean norm %.1f" % g.norm(dim=1).mean().item())
