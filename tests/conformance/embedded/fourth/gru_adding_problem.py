"""The adding problem: compare GRU, LSTM and plain RNN on summing two marked numbers."""
from typing import Tuple

import torch
from torch import nn, Tensor


def batch(n: int, length: int) -> Tuple[Tensor, Tensor]:
    values = torch.rand(n, length)
    markers = torch.zeros(n, length)
    first = torch.randint(0, length // 2, (n, 1))
    second = torch.randint(length // 2, length, (n, 1))
    markers.scatter_(1, first, 1.0).scatter_(1, second, 1.0)
    target = (values * markers).sum(1)
    return torch.stack([values, markers], dim=-1), target


class Model(nn.Module):
    def __init__(self, kind: str, hidden: int) -> None:
        super().__init__()
        cls = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[kind]
        self.rnn = cls(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.rnn(x)
        return self.out(y[:, -1]).squeeze(-1)


def run(kind: str, steps: int = 60, length: int = 10) -> float:
    torch.manual_seed(0)
    model = Model(kind, 16)
    opt = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    last = []
    for step in range(steps):
        x, y = batch(48, length)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        opt.step()
        last.append(loss.item())
    n = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{kind:5s} params={n:5d} start={last[0]:.3f} end={sum(last[-10:]) / 10:.3f}")
    return sum(last[-10:]) / 10


if __name__ == "__main__":
    results = {k: run(k) for k in ("rnn", "gru", "lstm")}
    torch.manual_seed(1)
    _, y = batch(2000, 10)
    print("baseline (predict mean): %.3f" % y.var().item())
    print("all beat half a unit:", all(v < 0.5 for v in results.values()))
