"""Predicts the 10, 50 and 90 percent quantiles of hourly electricity load with the pinball loss."""
import math

import torch
import torch.nn as nn

QUANTILES = (0.1, 0.5, 0.9)


class PinballLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("q", torch.tensor(quantiles))

    def forward(self, pred, target):
        err = target.unsqueeze(-1) - pred
        return torch.maximum(self.q * err, (self.q - 1) * err).mean()


class QuantileNet(nn.Module):
    """Quantiles can't cross: the first is free, the others add positive increments."""

    def __init__(self, n_in, hidden, n_q):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, n_q),
        )

    def forward(self, x):
        out = self.net(x)
        first, rest = out[..., :1], nn.functional.softplus(out[..., 1:])
        return torch.cat([first, first + rest.cumsum(-1)], dim=-1)


def make_load(hours):
    t = torch.arange(hours)
    hod = t % 24
    weekend = ((t // 24) % 7 >= 5).float()
    shape = 1 + 0.4 * torch.sin(2 * math.pi * (hod - 7) / 24) + 0.2 * torch.sin(4 * math.pi * (hod - 3) / 24)
    spread = 0.03 + 0.12 * ((hod > 16) & (hod < 22)).float()      # uncertain in the evening
    load = shape * (1 - 0.2 * weekend) + spread * torch.randn(hours)
    ang = 2 * math.pi * hod / 24
    x = torch.stack([ang.sin(), ang.cos(), (2 * ang).sin(), (2 * ang).cos(), weekend], 1)
    return x, load, hod


def main():
    torch.manual_seed(50)
    x, y, hod = make_load(24 * 7 * 6)
    cut = 24 * 7 * 4
    model = QuantileNet(5, 32, len(QUANTILES))
    loss_fn = PinballLoss(QUANTILES)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=150, eta_min=1e-4)
    for it in range(150):
        loss = loss_fn(model(x[:cut]), y[:cut])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 50 == 49:
            print(f"iter {it + 1}: pinball {loss.item():.4f}")

    model.eval()
    with torch.no_grad():
        p = model(x[cut:])
    target = y[cut:]
    for i, q in enumerate(QUANTILES):
        print(f"q{int(q * 100):02d}: below in {(target <= p[:, i]).float().mean().item():.3f} of the hours")
    width = p[:, 2] - p[:, 0]
    h = hod[cut:]
    for hour in (4, 12, 19):
        print(f"{hour:02d}:00  mean band width {width[h == hour].mean().item():.3f}")
    print("crossings:", int((p.diff(dim=-1) < 0).sum()))


if __name__ == "__main__":
    main()
