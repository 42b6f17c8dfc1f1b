"""Save a training checkpoint to a temporary folder, load it into a new model and resume training."""
import os
import tempfile

import torch
import torch.nn as nn


def build():
    model = nn.Sequential(nn.Linear(5, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 1))
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    return model, opt


def train(model, opt, x, y, epochs):
    model.train()
    losses = []
    for _ in range(epochs):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(11)
    x = torch.randn(64, 5)
    y = x.pow(2).sum(1, keepdim=True) * 0.3

    model, opt = build()
    first = train(model, opt, x, y, 10)
    print("first part: %.4f -> %.4f" % (first[0], first[-1]))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ckpt.pt")
        torch.save({
            "epoch": 10,
            "model": model.state_dict(),
            "optimizer": opt.state_dict(),
            "loss": first[-1],
        }, path)

        # go on with the original ...
        a = train(model, opt, x, y, 5)

        # ... and with the restored one
        model2, opt2 = build()
        ckpt = torch.load(path, weights_only=True)
        print("keys:", sorted(ckpt))
        print("missing/unexpected:", model2.load_state_dict(ckpt["model"]))
        opt2.load_state_dict(ckpt["optimizer"])
        b = train(model2, opt2, x, y, 5)

    print("epoch stored:", ckpt["epoch"])
    print("resumed identical:", all(abs(i - j) < 1e-6 for i, j in zip(a, b)))
    for name, t in model2.state_dict().items():
        print(f"{name:25s} {tuple(t.shape)!s:10s} {t.dtype}")
    print("final %.4f" % b[-1])


if __name__ == "__main__":
    main()
