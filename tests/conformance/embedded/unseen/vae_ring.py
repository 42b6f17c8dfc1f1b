# Toy variational autoencoder on points of a noisy ring, with the KL both in closed form and by torch.distributions.
import math
import torch
from torch import nn
from torch.distributions import Normal, Independent, kl_divergence

torch.manual_seed(7)


def make_ring(n):
    t = torch.rand(n) * 2 * math.pi
    pts = torch.stack((t.cos(), t.sin()), dim=1)
    return pts + 0.05 * torch.randn_like(pts)


class VAE(nn.Module):
    def __init__(self, d=2, h=24, z=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.SiLU(), nn.Linear(h, d))
        self.log_sigma = nn.Parameter(torch.tensor(-1.0))

    def encode(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        return mu, logvar

    def forward(self, x):
        mu, logvar = self.encode(x)
        q = Normal(mu, torch.exp(0.5 * logvar))
        z = q.rsample()
        p = Independent(Normal(self.dec(z), self.log_sigma.exp()), 1)
        log_px = p.log_prob(x)
        kl = kl_divergence(q, Normal(torch.zeros_like(mu), torch.ones_like(mu))).sum(-1)
        return log_px, kl, mu, logvar


vae = VAE()
opt = torch.optim.RMSprop(vae.parameters(), lr=5e-3)
data = make_ring(64)
print("data mean", data.mean(0), "radius", data.norm(dim=1).mean())

for epoch in range(11):
    perm = torch.randperm(len(data))
    batch = data[perm[:48]]
    log_px, kl, mu, logvar = vae(batch)
    loss = -(log_px - min(1.0, epoch / 10) * kl).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.4f} rec {-log_px.mean().item():.4f} kl {kl.mean().item():.4f}")

closed = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(dim=1)
print("closed form KL agrees:", torch.allclose(closed, kl, atol=1e-5))
print("log_sigma: %.4f" % vae.log_sigma.item())

vae.eval()
with torch.no_grad():
    samples = vae.dec(torch.randn(5, 2))
    grid = torch.stack(torch.meshgrid(torch.linspace(-1, 1, 3), torch.linspace(-1, 1, 3), indexing="ij"), -1)
    decoded = vae.dec(grid.reshape(-1, 2)).reshape(3, 3, 2)
print("samples\n", samples)
print("decoded radius\n", decoded.norm(dim=-1))
