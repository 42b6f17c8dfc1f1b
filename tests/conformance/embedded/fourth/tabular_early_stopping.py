"""Tabular regression with categorical embeddings, early stopping and reduce-on-plateau learning rate."""
import copy
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    n: int = 600
    batch_size: int = 64
    lr: float = 0.02
    max_epochs: int = 40
    patience: int = 4
    hidden: list = field(default_factory=lambda: [32, 16])


class HouseDataset(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.area = torch.rand(n, generator=g) * 150 + 30
        self.age = torch.rand(n, generator=g) * 60
        self.district = torch.randint(0, 6, (n,), generator=g)
        self.heating = torch.randint(0, 3, (n,), generator=g)
        base = torch.tensor([1.0, 1.4, 0.8, 2.0, 1.1, 1.6])[self.district]
        self.price = self.area * base * (1 - self.age / 120) + 8 * self.heating + 6 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.price)

    def __getitem__(self, i):
        num = torch.stack([(self.area[i] - 105) / 43, (self.age[i] - 30) / 17])
        cat = torch.stack([self.district[i], self.heating[i]])
        return {"num": num, "cat": cat, "y": self.price[i] / 100}


class TabularNet(nn.Module):
    def __init__(self, cards, n_num, hidden):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, min(4, c)) for c in cards])
        d = n_num + sum(e.embedding_dim for e in self.embs)
        layers = []
        for h in hidden:
            layers += [nn.Linear(d, h), nn.BatchNorm1d(h), nn.ReLU()]
            d = h
        self.body = nn.Sequential(*layers, nn.Linear(d, 1))

    def forward(self, num, cat):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return self.body(torch.cat([num, *e], dim=1)).squeeze(1)


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    total, n = 0.0, 0
    with torch.set_grad_enabled(opt is not None):
        for b in loader:
            loss = nn.functional.huber_loss(model(b["num"], b["cat"]), b["y"], delta=0.5)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(b["y"])
            n += len(b["y"])
    return total / n


cfg = Config()
torch.manual_seed(0)
train_dl = DataLoader(HouseDataset(cfg.n, 1), batch_size=cfg.batch_size, shuffle=True, drop_last=True)
val_dl = DataLoader(HouseDataset(200, 2), batch_size=200)
model = TabularNet([6, 3], 2, cfg.hidden)
opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=1)
best, best_state, bad = float("inf"), None, 0
for epoch in range(cfg.max_epochs):
    tr = run_epoch(model, train_dl, opt)
    va = run_epoch(model, val_dl)
    sched.step(va)
    if va < best - 1e-4:
        best, best_state, bad = va, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} train {tr:.4f} val {va:.4f} lr {opt.param_groups[0]['lr']:.4f}")
    if bad >= cfg.patience:
        print("early stopping")
        break
model.load_state_dict(best_state)
print("best val %.3f, restored val %.3f" % (best, run_epoch(model, val_dl)))
