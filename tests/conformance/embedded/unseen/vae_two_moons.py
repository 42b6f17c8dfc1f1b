# Variational autoencoder on two moons, with a KL term from torch.distributions and KL annealing.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence


def two_moons(n, noise=0.05):
    t = torch.rand(n) * math.pi
    upper = torch.stack([torch.cos(t), torch.sin(t)], -1)
    lower = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], -1)
    pick = torch.bernoulli(torch.full((n, 1), 0.5))
    x = pick * upper + (1 - pick) * lower
    return x + noise * torch.randn_like(x), pick.squeeze(-1).long()


class VAE(nn.Module):
    def __init__(self, d_in=2, h=16, z=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, h), nn.ELU())
        self.to_mu = nn.Linear(h, z)
        self.to_rho = nn.Linear(h, z)
        self.decoder = nn.Sequential(nn.Linear(z, h), nn.ELU(), nn.Linear(h, d_in))
        self.log_scale = nn.Parameter(torch.tensor(-1.0))

    def posterior(self, x):
        h = self.encoder(x)
        return Normal(self.to_mu(h), F.softplus(self.to_rho(h)) + 1e-4)

    def forward(self, x):
        q = self.posterior(x)
        z = q.rsample()
        px = Normal(self.decoder(z), self.log_scale.exp())
        rec = px.log_prob(x).sum(-1)
        kl = kl_divergence(q, Normal(0.0, 1.0)).sum(-1)
        return rec, kl


def main():
    torch.manual_seed(3)
    x, label = two_moons(64)
    print("data mean", x.mean(0), "moon sizes", label.bincount().tolist())
    vae = VAE()
    opt = torch.optim.Adam(vae.parameters(), lr=1e-2, betas=(0.9, 0.99))
    steps = 10
    for step in range(steps):
        beta = min(1.0, (step + 1) / 6)
        rec, kl = vae(x)
        loss = (-rec + beta * kl).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 3 == 0 or step == steps - 1:
            print(f"{step:3d} beta={beta:.1f} elbo={(rec - kl).mean().item():.4f} "
                  f"rec={rec.mean().item():.4f} kl={kl.mean().item():.4f}")

    with torch.no_grad():
        q = vae.posterior(x[:4])
        print("mu\n", q.mean)
        print("sigma\n", q.stddev)
        # importance-weighted bound
        k = 10
        z = q.sample((k,))
        logw = (Normal(vae.decoder(z), vae.log_scale.exp()).log_prob(x[:4]).sum(-1)
                + Normal(0., 1.).log_prob(z).sum(-1) - q.log_prob(z).sum(-1))
        iw = torch.logsumexp(logw, 0) - math.log(k)
        print("iwae:", [round(v, 3) for v in iw.tolist()])
        prior = vae.decoder(torch.randn(5, 2))
        print("generated:\n", prior)


if __name__ == "__main__":
    main()
