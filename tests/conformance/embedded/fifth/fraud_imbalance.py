"""Compares four ways to treat a rare fraud class: nothing, pos_weight, a weighted sampler, and focal loss."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(2023)


def make_data(n, rate=0.04):
    y = (torch.rand(n) < rate).float()
    x = torch.randn(n, 6)
    x[:, 0] += 1.5 * y                       # amount a bit higher
    x[:, 1] -= 1.0 * y                       # account is younger
    x[:, 2] += y * torch.randn(n).sign()     # odd hour: no linear signal
    return x, y


def focal(logits, target, gamma=2.0, alpha=0.75):
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    pt = torch.exp(-bce)
    a = torch.where(target == 1, alpha, 1 - alpha)
    return (a * (1 - pt) ** gamma * bce).mean()


def average_precision(score, y):
    order = score.argsort(descending=True, stable=True)
    hits = y[order]
    precision = hits.cumsum(0) / torch.arange(1, len(y) + 1)
    return ((precision * hits).sum() / hits.sum()).item()


def train(x, y, how):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    ds = TensorDataset(x, y)
    if how == "sampler":
        w = torch.where(y == 1, 1 / y.sum(), 1 / (1 - y).sum())
        loader = DataLoader(ds, batch_size=100, sampler=WeightedRandomSampler(w, len(ds)))
    else:
        loader = DataLoader(ds, batch_size=100, shuffle=True)
    seen = []
    for _ in range(3):
        for xb, yb in loader:
            out = net(xb)
            if how == "pos_weight":
                loss = F.binary_cross_entropy_with_logits(out, yb, pos_weight=(1 - y).sum() / y.sum())
            elif how == "focal":
                loss = focal(out, yb)
            else:
                loss = F.binary_cross_entropy_with_logits(out, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen.append(yb.mean())
    return net.eval(), torch.stack(seen).mean().item()


x, y = make_data(1000)
xt, yt = make_data(1500)
print(f"fraud rate: train {y.mean():.3f}, test {yt.mean():.3f}")
print("how          share seen  flagged  recall  precision  avg.prec.")
for how in ["nothing", "pos_weight", "sampler", "focal"]:
    net, share = train(x, y, how)
    with torch.no_grad():
        s = net(xt)
    flag = s > 0
    tp = (flag & (yt == 1)).sum().item()
    recall = tp / yt.sum().item()
    prec = tp / max(int(flag.sum()), 1)
    print(f"{how:12s} {share:10.3f} {int(flag.sum()):8d} {recall:7.3f} {prec:10.3f} {average_precision(s, yt):10.3f}")
