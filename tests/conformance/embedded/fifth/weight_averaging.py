"""Compares the last weights, an exponential moving average and stochastic weight averaging on a noisy regression."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(88)


def make(n, noise):
    x = torch.rand(n, 3) * 4 - 2
    y = torch.sin(2 * x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:]
    return x, y + noise * torch.randn(n, 1)


x, y = make(256, 0.5)
xt, yt = make(512, 0.0)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(3, 48), nn.BatchNorm1d(48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.95), use_buffers=True)
swa = AveragedModel(net)

opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
EPOCHS, SWA_START = 14, 7
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS)
swa_lr = SWALR(opt, swa_lr=0.05, anneal_epochs=2, anneal_strategy="linear")


@torch.no_grad()
def test(m):
    m.eval()
    value = nn.functional.mse_loss(m(xt), yt).item()
    m.train()
    return value


for epoch in range(EPOCHS):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update_parameters(net)
    if epoch >= SWA_START:
        swa.update_parameters(net)
        swa_lr.step()
    else:
        cosine.step()
    if epoch % 2:
        print(f"epoch {epoch:2d} lr {opt.param_groups[0]['lr']:.4f}  last {test(net):.4f}  ema {test(ema):.4f}")

print("averaged models:", swa.n_averaged.item(), " ema updates:", ema.n_averaged.item())
# SWA doesn't average the batch norm statistics: have to be recomputed
before = test(swa)
update_bn(loader, swa)
print(f"swa before update_bn {before:.4f}, after {test(swa):.4f}; last {test(net):.4f}; ema {test(ema):.4f}")
d = torch.cat([(a - b).flatten() for a, b in zip(net.parameters(), swa.parameters())]).norm()
print(f"distance between the last and the averaged weights {d.item():.3f}")
