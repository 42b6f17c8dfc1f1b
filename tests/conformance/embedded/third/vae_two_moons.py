"""Fit a small variational autoencoder to two-moons points with the reparameterization trick."""
import math
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    latent: int = 2
    hidden: int = 32
    steps: int = 150
    lr: float = 5e-3
    beta: float = 0.1


def two_moons(n):
    t = torch.rand(n) * math.pi
    side = torch.randint(0, 2, (n,))
    x = torch.where(side == 0, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(side == 0, torch.sin(t), 0.5 - torch.sin(t))
    return torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2)


class VAE(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(2, cfg.hidden), nn.ELU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ELU())
        self.mu = nn.Linear(cfg.hidden, cfg.latent)
        self.logvar = nn.Linear(cfg.hidden, cfg.latent)
        self.dec = nn.Sequential(nn.Linear(cfg.latent, cfg.hidden), nn.ELU(), nn.Linear(cfg.hidden, 2))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def elbo_terms(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return rec, kl


if __name__ == "__main__":
    torch.manual_seed(0)
    cfg = Config()
    data = two_moons(256)
    model = VAE(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(1, cfg.steps + 1):
        recon, mu, logvar = model(data)
        rec, kl = elbo_terms(recon, data, mu, logvar)
        loss = rec + cfg.beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"{step:4d} rec {rec.item():.3f} kl {kl.item():.3f}")
    with torch.no_grad():
        samples = model.dec(torch.randn(500, cfg.latent))
    print("sample mean", [f"{v:.2f}" for v in samples.mean(0)])
    print("data mean  ", [f"{v:.2f}" for v in data.mean(0)])
