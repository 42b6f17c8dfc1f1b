"""Trains a small variational autoencoder on tiny striped images and prints what the latent space does."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(17)
S = 8


def stripes(n):
    # horizontal or vertical stripes of period 4 and random phase
    phase = torch.randint(0, 4, (n,))
    vert = torch.rand(n) < 0.5
    base = ((torch.arange(S)[None] + phase[:, None]) % 4 < 2).float()
    img = base[:, None, :].expand(n, S, S).clone()
    img[~vert] = img[~vert].transpose(1, 2)
    return img.flatten(1), vert


class VAE(nn.Module):
    def __init__(self, z=3, h=48):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(S * S, h), nn.ReLU(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, S * S))

    def encode(self, x):
        mu, raw = self.enc(x).chunk(2, dim=-1)
        return Normal(mu, F.softplus(raw) + 1e-4)

    def forward(self, x):
        q = self.encode(x)
        z = q.rsample()
        return self.dec(z), q


vae = VAE()
prior = Normal(0.0, 1.0)
opt = torch.optim.Adam(vae.parameters(), lr=4e-3)
x, vert = stripes(256)

for step in range(121):
    beta = min(1.0, step / 60)           # KL warm-up
    logits, q = vae(x)
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1).mean()
    kl = kl_divergence(q, prior).sum(-1).mean()
    loss = rec + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"{step:3d}  rec {rec.item():7.3f}  kl {kl.item():6.3f}  beta {beta:.2f}")

with torch.no_grad():
    q = vae.encode(x)
    active = (q.mean.var(0) > 0.05).sum().item()
    print("active latent dimensions:", active)
    print("separation of the two directions: %.3f" %
          (q.mean[vert].mean(0) - q.mean[~vert].mean(0)).norm())
    recon = (vae.dec(q.mean) > 0).float()
    print("pixel accuracy of the reconstruction: %.3f" % (recon == x).float().mean())
    sample = torch.sigmoid(vae.dec(torch.randn(1, 3))).view(S, S)
    for row in sample:
        print("".join("#" if v > 0.5 else "." for v in row))
