"""A generator against a discriminator: detach, labels, two optimizers."""
import torch
from torch import nn

torch.manual_seed(19)
generator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
discriminator = nn.Sequential(nn.Linear(1, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
g_opt, d_opt = torch.optim.Adam(generator.parameters(), 0.01, betas=(0.5, 0.999)), torch.optim.Adam(discriminator.parameters(), 0.01, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
for step in range(2):
    real, fake = torch.randn(8, 1) * 0.5 + 3, generator(torch.randn(8, 2))
    d_loss = bce(discriminator(real), torch.ones(8, 1)) + bce(discriminator(fake.detach()), torch.zeros(8, 1))
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_loss = bce(discriminator(fake), torch.ones_like(fake))
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    print(step, d_loss.item(), g_loss.item())
