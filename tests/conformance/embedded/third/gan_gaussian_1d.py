"""Train a minimal GAN that learns to produce numbers from a shifted normal distribution."""
import torch
import torch.nn as nn

torch.manual_seed(9)

REAL_MEAN, REAL_STD = 4.0, 1.25
BATCH = 64


def real_batch():
    return torch.randn(BATCH, 1) * REAL_STD + REAL_MEAN


def noise():
    return torch.rand(BATCH, 4)


G = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
D = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())

bce = nn.BCELoss()
opt_g = torch.optim.Adam(G.parameters(), lr=5e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-3, betas=(0.5, 0.999))
ones = torch.ones(BATCH, 1)
zeros = torch.zeros(BATCH, 1)

for it in range(201):
    # --- discriminator ---
    opt_d.zero_grad()
    d_real = D(real_batch())
    fake = G(noise())
    d_fake = D(fake.detach())
    loss_d = bce(d_real, ones) + bce(d_fake, zeros)
    loss_d.backward()
    opt_d.step()

    # --- generator ---
    opt_g.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()

    if it % 50 == 0:
        print("[%3d] D %.3f  G %.3f  fake mean %.2f std %.2f"
              % (it, loss_d.item(), loss_g.item(), fake.mean().item(), fake.std().item()))

with torch.no_grad():
    out = torch.cat([G(noise()) for _ in range(20)])
print("generated %d numbers, shape %s" % (out.numel(), list(out.shape)))
print("mean %.2f" % out.mean().item())
