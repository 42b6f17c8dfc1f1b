"""Variational autoencoder on points of a noisy ring embedded in ten dimensions."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d_in=10, d_h=32, d_z=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d_in, d_h), nn.ReLU())
        self.mu = nn.Linear(d_h, d_z)
        self.logvar = nn.Linear(d_h, d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, d_h), nn.ReLU(), nn.Linear(d_h, d_in))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar, beta):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return rec + beta * kld, rec, kld


torch.manual_seed(2)
angle = torch.rand(512) * 2 * math.pi
ring = torch.stack([angle.cos(), angle.sin()], 1)
A, _ = torch.linalg.qr(torch.randn(10, 10))
data = 2 * ring @ A[:2] + 0.05 * torch.randn(512, 10)

model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(20):
    beta = min(1.0, epoch / 10) * 0.1   # KL warm up
    sums = torch.zeros(3)
    for xb in data[torch.randperm(512)].chunk(8):
        recon, mu, logvar = model(xb)
        loss, rec, kld = loss_function(recon, xb, mu, logvar, beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums += torch.stack([loss, rec, kld]).detach()
    if (epoch + 1) % 5 == 0:
        l, r, k = (sums / 8).tolist()
        print(f"====> Epoch {epoch + 1}: loss {l:.3f} rec {r:.3f} kl {k:.3f}")

with torch.no_grad():
    sample = model.dec(torch.randn(256, 2))
    radius = (sample @ A[:2].T).norm(dim=1)
    off_plane = (sample @ A[2:].T).norm(dim=1)
    print("sample radius mean %.2f" % radius.mean().item())
    print("off-plane mean %.2f" % off_plane.mean().item())
    print("data radius mean %.2f" % (data @ A[:2].T).norm(dim=1).mean().item())
