"""Shows that training interrupted and resumed from a checkpoint ends with exactly the same weights as training in one go."""
import os
import random
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def build():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    gen = torch.Generator().manual_seed(7)
    x = torch.randn(120, 8, generator=gen)
    y = (x[:, :3] + 0.3 * x[:, 3:6]).argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True, generator=gen)
    return model, opt, sched, loader, gen


def save(path, epoch, model, opt, sched, gen):
    torch.save({
        "epoch": epoch,
        "model": model.state_dict(),
        "optimizer": opt.state_dict(),
        "scheduler": sched.state_dict(),
        "rng": torch.get_rng_state(),
        "loader_rng": gen.get_state(),
    }, path)


def load(path, model, opt, sched, gen):
    ckpt = torch.load(path, weights_only=True)
    model.load_state_dict(ckpt["model"])
    opt.load_state_dict(ckpt["optimizer"])
    sched.load_state_dict(ckpt["scheduler"])
    torch.set_rng_state(ckpt["rng"])
    gen.set_state(ckpt["loader_rng"])
    return ckpt["epoch"] + 1


def train(first, last, model, opt, sched, loader, after_epoch=None):
    model.train()
    for epoch in range(first, last):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() / len(loader)
        print(f"  epoch {epoch} lr {sched.get_last_lr()[0]:.6f} loss {total:.4f}")
        sched.step()
        if after_epoch:
            after_epoch(epoch)


print("in one go")
m1, o1, s1, l1, g1 = build()
train(0, 6, m1, o1, s1, l1)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "last.pt")
    print("first half")
    m2, o2, s2, l2, g2 = build()
    train(0, 3, m2, o2, s2, l2, lambda e: save(path, e, m2, o2, s2, g2))
    print("checkpoint keys:", sorted(torch.load(path, weights_only=True)))
    print("second half in a 'new process'")
    m3, o3, s3, l3, g3 = build()
    torch.rand(random.randint(1, 5))            # whatever else happened meanwhile
    start = load(path, m3, o3, s3, g3)
    train(start, 6, m3, o3, s3, l3)

same = all(torch.equal(a, b) for a, b in zip(m1.state_dict().values(), m3.state_dict().values()))
print("identical weights:", same)
print("Adam step counters:", o1.state_dict()["state"][0]["step"].item(), o3.state_dict()["state"][0]["step"].item())

# and what most people do: only the model is saved
m4, o4, s4, l4, g4 = build()
m4.load_state_dict(m2.state_dict())
print("only the model restored")
train(3, 6, m4, o4, s4, l4)
diff = max((a - b).abs().max().item() for a, b in zip(m1.parameters(), m4.parameters()))
print(f"largest difference of weights: {diff:.4f}")
