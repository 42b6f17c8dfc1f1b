"""Forecast a noisy sine wave with an LSTM and roll the forecast out over many steps."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out), state


def make_windows(series, width):
    windows = series.unfold(0, width + 1, 1)
    return windows[:, :-1].unsqueeze(-1), windows[:, 1:].unsqueeze(-1)


torch.manual_seed(7)
t = torch.arange(0, 300)
series = torch.sin(2 * math.pi * t / 25) + 0.05 * torch.randn(300)
train_series, test_series = series[:240], series[240:]
X, Y = make_windows(train_series, 20)
print("windows", tuple(X.shape), tuple(Y.shape))

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    total = 0.0
    for idx in torch.randperm(len(X)).split(44):
        pred, _ = model(X[idx])
        loss = F.mse_loss(pred, Y[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} mse {total / len(X):.4f}")

model.eval()
with torch.inference_mode():
    warm = train_series[-30:].view(1, -1, 1)
    pred, state = model(warm)
    x = pred[:, -1:]
    rollout = []
    for _ in range(25):
        rollout.append(x.item())
        x, state = model(x, state)
rollout = torch.tensor(rollout)
err = (rollout - test_series[:25]).abs()
print("rollout mean abs error %.3f" % err.mean().item())
print("first five", ["%.2f" % v for v in rollout[:5].tolist()])
print("naive last-value error %.3f" % (train_series[-1] - test_series[:25]).abs().mean().item())
