"""A small Trainer class with validation, early stopping and best-weight restoring on a noisy sine."""
from __future__ import annotations

import copy
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class History:
    train: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)


class EarlyStopping:
    def __init__(self, patience: int = 4, min_delta: float = 1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best = float("inf")
        self.bad = 0
        self.state: dict | None = None

    def step(self, value: float, model: nn.Module) -> bool:
        if value < self.best - self.min_delta:
            self.best, self.bad = value, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


class Trainer:
    def __init__(self, model, optimizer, loss_fn, stopper):
        self.model, self.opt, self.loss_fn, self.stopper = model, optimizer, loss_fn, stopper
        self.history = History()

    def _epoch(self, loader, training: bool) -> float:
        self.model.train(training)
        total, count = 0.0, 0
        with torch.set_grad_enabled(training):
            for x, y in loader:
                loss = self.loss_fn(self.model(x), y)
                if training:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                total += loss.item() * len(x)
                count += len(x)
        return total / count

    def fit(self, train_loader, valid_loader, epochs: int) -> History:
        for epoch in range(epochs):
            tr = self._epoch(train_loader, True)
            va = self._epoch(valid_loader, False)
            self.history.train.append(tr)
            self.history.valid.append(va)
            if epoch % 5 == 0:
                print(f"epoch {epoch:3d} train {tr:.4f} valid {va:.4f}")
            if self.stopper.step(va, self.model):
                print("early stop")
                break
        self.model.load_state_dict(self.stopper.state)
        return self.history


def make(n: int) -> TensorDataset:
    x = torch.rand(n, 1) * 4 - 2
    return TensorDataset(x, torch.sin(2 * x) + 0.2 * torch.randn(n, 1))


if __name__ == "__main__":
    torch.manual_seed(0)
    train_dl = DataLoader(make(48), batch_size=16, shuffle=True)
    valid_dl = DataLoader(make(48), batch_size=48)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    trainer = Trainer(net, torch.optim.Adam(net.parameters(), lr=0.02), nn.MSELoss(), EarlyStopping())
    hist = trainer.fit(train_dl, valid_dl, 60)
    print("epochs run:", len(hist.train))
    print("best valid %.3f" % trainer.stopper.best)
    restored = trainer._epoch(valid_dl, False)
    print("restored weights reproduce the best:", abs(restored - trainer.stopper.best) < 1e-5)
