"""Estimates monthly rents from a mixed table of categories and numbers with entity embeddings."""
import argparse
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, Subset

DISTRICTS = ["Altstadt", "Hafen", "Nordend", "Suedpark", "Weststadt", "Zoo"]
HEATING = ["gas", "district", "oil"]


@dataclass
class Config:
    epochs: int = 5
    batch_size: int = 64
    lr: float = 1e-2
    hidden: list[int] = field(default_factory=lambda: [32, 16])
    seed: int = 0


class RentTable(Dataset):
    def __init__(self, n: int, gen: torch.Generator):
        self.district = torch.randint(0, len(DISTRICTS), (n,), generator=gen)
        self.heating = torch.randint(0, len(HEATING), (n,), generator=gen)
        self.area = 25 + 100 * torch.rand(n, generator=gen)
        self.year = torch.randint(1900, 2021, (n,), generator=gen).float()
        per_m2 = torch.tensor([16.0, 14.0, 12.0, 11.0, 13.0, 15.0])[self.district]
        per_m2 = per_m2 + torch.tensor([0.0, 0.5, -1.0])[self.heating]
        per_m2 = per_m2 + 2.0 * (self.year > 2000) + 0.8 * (self.year < 1920)
        noise = torch.randn(n, generator=gen)
        self.rent = self.area ** 0.95 * per_m2 * (1 + 0.05 * noise)

    def __len__(self):
        return len(self.rent)

    def __getitem__(self, i):
        return {
            "cat": torch.stack([self.district[i], self.heating[i]]),
            "num": torch.stack([(self.area[i] - 75) / 29, (self.year[i] - 1960) / 35]),
            "rent": self.rent[i],
        }


class TabularNet(nn.Module):
    def __init__(self, cards, n_num, hidden):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, min(4, (c + 1) // 2)) for c in cards])
        width = sum(e.embedding_dim for e in self.embs) + n_num
        layers = []
        for h in hidden:
            layers += [nn.Linear(width, h), nn.BatchNorm1d(h), nn.ReLU()]
            width = h
        layers.append(nn.Linear(width, 1))
        self.mlp = nn.Sequential(*layers)

    def forward(self, cat, num):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return self.mlp(torch.cat(e + [num], dim=1)).squeeze(1)


def parse() -> Config:
    p = argparse.ArgumentParser(description=__doc__)
    d = Config()
    p.add_argument("--epochs", type=int, default=d.epochs)
    p.add_argument("--batch-size", type=int, default=d.batch_size)
    p.add_argument("--lr", type=float, default=d.lr)
    p.add_argument("--hidden", type=int, nargs="+", default=d.hidden)
    p.add_argument("--seed", type=int, default=d.seed)
    return Config(**vars(p.parse_args()))


def main(cfg: Config):
    torch.manual_seed(cfg.seed)
    table = RentTable(500, torch.Generator().manual_seed(123))
    train, valid = Subset(table, range(400)), Subset(table, range(400, 500))
    model = TabularNet([len(DISTRICTS), len(HEATING)], 2, cfg.hidden)
    print(cfg)
    print("embedding sizes:", [tuple(e.weight.shape) for e in model.embs])
    steps = -(-len(train) // cfg.batch_size)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=3 * cfg.lr, epochs=cfg.epochs, steps_per_epoch=steps)
    for epoch in range(cfg.epochs):
        model.train()
        for b in DataLoader(train, cfg.batch_size, shuffle=True):
            loss = nn.functional.mse_loss(model(b["cat"], b["num"]), b["rent"].log() - 6.7)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        model.eval()
        with torch.no_grad():
            b = next(iter(DataLoader(valid, batch_size=100)))
            pred = torch.exp(model(b["cat"], b["num"]) + 6.7)
            mape = ((pred - b["rent"]).abs() / b["rent"]).mean().item()
        print(f"epoch {epoch} last loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.5f} valid MAPE {mape:.3f}")


if __name__ == "__main__":
    main(parse())
