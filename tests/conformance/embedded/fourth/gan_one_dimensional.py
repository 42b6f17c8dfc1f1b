"""A GAN that learns to turn uniform noise into a one dimensional Gaussian."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(5)
DATA_MEAN, DATA_STD = 4.0, 1.25
batch_size = 64
d_steps, g_steps = 1, 1


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.map1 = nn.Linear(1, 12)
        self.map2 = nn.Linear(12, 12)
        self.map3 = nn.Linear(12, 1)

    def forward(self, x):
        x = torch.tanh(self.map1(x))
        x = torch.tanh(self.map2(x))
        return self.map3(x)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, 16), nn.LeakyReLU(0.2),
            nn.Linear(16, 16), nn.LeakyReLU(0.2),
            nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


real_sampler = lambda n: torch.normal(DATA_MEAN, DATA_STD, (n, 1))
noise_sampler = lambda n: torch.rand(n, 1) * 2 - 1

G, D = Generator(), Discriminator()
criterion = nn.BCEWithLogitsLoss()
g_opt = optim.Adam(G.parameters(), lr=3e-3, betas=(0.5, 0.99))
d_opt = optim.Adam(D.parameters(), lr=3e-3, betas=(0.5, 0.99))
ones, zeros = torch.ones(batch_size, 1), torch.zeros(batch_size, 1)

for it in range(301):
    for _ in range(d_steps):
        D.zero_grad()
        d_real = criterion(D(real_sampler(batch_size)), ones)
        fake = G(noise_sampler(batch_size)).detach()  # detach so G gets no gradient here
        d_fake = criterion(D(fake), zeros)
        (d_real + d_fake).backward()
        d_opt.step()
    for _ in range(g_steps):
        G.zero_grad()
        g_loss = criterion(D(G(noise_sampler(batch_size))), ones)
        g_loss.backward()
        g_opt.step()
    if it % 100 == 0:
        with torch.no_grad():
            s = G(noise_sampler(1000))
        print("%4d: D %.2f/%.2f G %.2f | fake mean %.2f std %.2f"
              % (it, d_real, d_fake, g_loss, s.mean(), s.std()))
print("target mean %.2f std %.2f" % (DATA_MEAN, DATA_STD))
