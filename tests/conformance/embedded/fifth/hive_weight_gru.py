"""Forecasts the weight of a beehive one day ahead from weather with a small GRU."""
import math
import torch
from torch import nn

torch.manual_seed(2024)

# my scale logs once per day: weight (kg), temperature (C), rain (mm)
# the real log is at home, here is a fake one that looks the same
DAYS = 160
day = torch.arange(DAYS, dtype=torch.float32)
temp = 14 + 9 * torch.sin(2 * math.pi * (day - 30) / 160) + torch.randn(DAYS)
rain = torch.relu(torch.randn(DAYS) * 4 - 1)
flow = 0.06 * torch.relu(temp - 12) * (rain < 1.0).float() - 0.08
weight = 28 + torch.cumsum(flow, 0) + 0.05 * torch.randn(DAYS)

raw = torch.stack([weight, temp, rain], dim=1)
mean, std = raw[:120].mean(0), raw[:120].std(0)
data = (raw - mean) / std

WINDOW = 10
windows = data.unfold(0, WINDOW, 1).transpose(1, 2)   # (n, WINDOW, 3)
x = windows[:-1]
y = weight[WINDOW:] - weight[WINDOW - 1:-1]            # gain of the next day
print("windows", tuple(x.shape), "targets", tuple(y.shape))

split = 110
x_train, y_train = x[:split], y[:split]
x_test, y_test = x[split:], y[split:]


class HiveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 12, batch_first=True)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        out, h = self.gru(x)
        return self.head(h[-1]).squeeze(1)


net = HiveNet()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.SmoothL1Loss()

for epoch in range(40):
    net.train()
    opt.zero_grad()
    loss = loss_fn(net(x_train), y_train)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1:3d}  train loss {loss.item():.4f}")

net.eval()
with torch.no_grad():
    pred = net(x_test)
mae = (pred - y_test).abs().mean()
naive = (y_test - y_train.mean()).abs().mean()
print("test MAE  gru: %.4f kg   mean-of-train: %.4f kg" % (mae, naive))
print("first predictions:", ["%.3f" % v for v in pred[:5].tolist()])
