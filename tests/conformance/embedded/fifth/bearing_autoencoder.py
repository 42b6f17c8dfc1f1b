"""Finds faulty bearings as anomalies: a 1-d convolutional autoencoder trained on healthy vibration only."""
import torch, math
from torch import nn

torch.manual_seed(314)
L = 128           # samples per snippet
t = torch.arange(L) / 1000.0


def healthy(n):
    f = 50 + 1.5 * torch.randn(n, 1)
    ph = 2 * math.pi * torch.rand(n, 1)
    s = torch.sin(2 * math.pi * f * t + ph) + 0.4 * torch.sin(4 * math.pi * f * t + 2 * ph)
    return (s + 0.05 * torch.randn(n, L)).unsqueeze(1)


def faulty(n):
    # outer race fault: short ringing bursts on top of the healthy signal
    s = healthy(n)
    for k in range(n):
        start = int(torch.randint(0, 30, ()))
        for j in range(start, L - 12, 37):
            m = torch.arange(12)
            s[k, 0, j:j + 12] += 0.8 * torch.exp(-m / 4) * torch.cos(2.2 * m)
    return s


class AE(nn.Module):
    def __init__(self, code=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2, padding=3), nn.LeakyReLU(0.1),
            nn.Conv1d(8, 8, 7, stride=4, padding=3), nn.LeakyReLU(0.1),
            nn.Flatten(), nn.Linear(8 * 16, code))
        self.decoder = nn.Sequential(
            nn.Linear(code, 8 * 16), nn.LeakyReLU(0.1), nn.Unflatten(1, (8, 16)),
            nn.ConvTranspose1d(8, 8, 8, stride=4, padding=2), nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1))

    def forward(self, x):
        return self.decoder(self.encoder(x))


ae = AE()
print("snippet", list(healthy(2).shape), "-> code", list(ae.encoder(healthy(2)).shape), "-> back", list(ae(healthy(2)).shape))
opt = torch.optim.NAdam(ae.parameters(), lr=5e-3)
train, calib = healthy(128), healthy(60)
for ep in range(12):
    for b in train[torch.randperm(len(train))].split(32):
        loss = (ae(b) - b).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
    if ep % 4 == 3:
        print("epoch %2d  mse %.4f" % (ep + 1, loss.item()))


@torch.no_grad()
def score(x):
    return (ae(x) - x).square().mean(dim=(1, 2))


thr = torch.quantile(score(calib), 0.95)
ok, bad = score(healthy(60)), score(faulty(60))
print("threshold %.4f" % thr)
print("healthy flagged: %.3f   faulty flagged: %.3f" % ((ok > thr).float().mean(), (bad > thr).float().mean()))
auc = (bad[:, None] > ok[None, :]).float().mean()
print("AUC %.3f" % auc)
