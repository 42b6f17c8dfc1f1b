"""Streams chat sessions of different lengths through an IterableDataset with bucketing, padding and masks into a model."""
from __future__ import annotations

import random
from typing import Iterator

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(3)


def session_stream(n: int, seed: int) -> Iterator[dict]:
    """Stands in for the message queue we read at work."""
    rng = random.Random(seed)
    for i in range(n):
        length = rng.choice([2, 3, 3, 5, 8, 13, 21])
        angry = rng.random() < 0.5
        pool = [7, 8, 9, 1, 2, 3, 4] if angry else [1, 2, 3, 4, 5, 6]
        yield {"id": i, "tokens": [rng.choice(pool) for _ in range(length)], "angry": angry}


class Bucketed(IterableDataset):
    """Collects `window` sessions, sorts them by length, cuts in batches, yields the batches shuffled."""

    def __init__(self, n: int, seed: int, batch_size: int, window: int):
        self.n, self.seed, self.bs, self.window = n, seed, batch_size, window

    def __iter__(self):
        rng = random.Random(self.seed + 1)
        buffer: list[dict] = []
        for item in session_stream(self.n, self.seed):
            buffer.append(item)
            if len(buffer) == self.window:
                yield from self.flush(buffer, rng)
                buffer = []
        yield from self.flush(buffer, rng)

    def flush(self, buffer, rng):
        buffer = sorted(buffer, key=lambda d: len(d["tokens"]))
        chunks = [buffer[i:i + self.bs] for i in range(0, len(buffer), self.bs)]
        rng.shuffle(chunks)
        yield from chunks


def collate(items: list[dict]) -> dict[str, Tensor]:
    tokens = pad_sequence([torch.tensor(d["tokens"]) for d in items], batch_first=True)
    return {
        "tokens": tokens,
        "mask": tokens != 0,
        "label": torch.tensor([float(d["angry"]) for d in items]),
        "id": torch.tensor([d["id"] for d in items]),
    }


class MaskedMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8, padding_idx=0)
        self.out = nn.Linear(8, 1)

    def forward(self, tokens, mask):
        h = self.emb(tokens) * mask.unsqueeze(-1)
        return self.out(h.sum(1) / mask.sum(1, keepdim=True)).squeeze(1)


def waste(loader) -> tuple[float, int]:
    pads = total = batches = 0
    for b in loader:
        pads += int((~b["mask"]).sum())
        total += b["mask"].numel()
        batches += 1
    return pads / total, batches


plain = DataLoader(list(session_stream(300, 0)), batch_size=20, collate_fn=collate)
bucket = DataLoader(Bucketed(300, 0, 20, window=120), batch_size=None, collate_fn=collate)
print("padding without buckets: %.3f in %d batches" % waste(plain))
print("padding with buckets   : %.3f in %d batches" % waste(bucket))
ids = torch.cat([b["id"] for b in bucket])
print("every session exactly once:", torch.equal(ids.sort().values, torch.arange(300)))

model = MaskedMean()
opt = torch.optim.Adagrad(model.parameters(), lr=0.2)
for epoch in range(3):
    losses, right = [], 0
    for b in bucket:
        z = model(b["tokens"], b["mask"])
        loss = nn.functional.binary_cross_entropy_with_logits(z, b["label"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        right += int(((z > 0) == (b["label"] > 0.5)).sum())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} accuracy {right / 300:.3f}")
first = next(iter(bucket))
print("shapes of the first batch:", {k: tuple(v.shape) for k, v in first.items()})
