"""Save a checkpoint in the middle of training, resume from it, and show that nothing changed."""
import os
import tempfile

import torch
import torch.nn as nn


def build():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    return model, optimizer, scheduler


def save_checkpoint(path, epoch, model, optimizer, scheduler):
    torch.save({
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "scheduler_state_dict": scheduler.state_dict(),
        "rng_state": torch.get_rng_state(),
    }, path)


def load_checkpoint(path, model, optimizer, scheduler):
    ckpt = torch.load(path, weights_only=True)
    model.load_state_dict(ckpt["model_state_dict"])
    optimizer.load_state_dict(ckpt["optimizer_state_dict"])
    scheduler.load_state_dict(ckpt["scheduler_state_dict"])
    torch.set_rng_state(ckpt["rng_state"])
    return ckpt["epoch"] + 1


gen = torch.Generator().manual_seed(123)
X = torch.randn(128, 6, generator=gen)
Y = (X[:, :1] * X[:, 1:2]).sin() + X[:, 2:3]


def train(model, optimizer, scheduler, start, stop, path=None, save_at=None):
    for epoch in range(start, stop):
        perm = torch.randperm(128)
        total = 0.0
        for idx in perm.split(32):
            loss = nn.functional.mse_loss(model(X[idx]), Y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(f"  epoch {epoch} loss {total / 4:.4f} lr {scheduler.get_last_lr()[0]:.5f}")
        if epoch == save_at:
            save_checkpoint(path, epoch, model, optimizer, scheduler)


with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "checkpoint.pt")
    print("uninterrupted run")
    a = build()
    train(*a, 0, 6, path, save_at=2)
    print("files written:", os.listdir(tmp))

    print("resumed run")
    b = build()
    start = load_checkpoint(path, *b)
    train(*b, start, 6)

same = all(torch.equal(p, q) for p, q in zip(a[0].state_dict().values(), b[0].state_dict().values()))
print("identical weights:", same)

# partial loading
bigger = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1), nn.Linear(1, 1))
result = bigger.load_state_dict(a[0].state_dict(), strict=False)
print("missing:", result.missing_keys, "unexpected:", result.unexpected_keys)
