"""Custom datasets, samplers, iterable datasets, collate functions and transforms with DataLoader."""
import torch
from torch.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler,
                              Sampler, Subset, WeightedRandomSampler, default_collate)


class Squares(Dataset):
    def __init__(self, n, transform=None):
        self.n, self.transform = n, transform

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        item = {"x": torch.tensor(float(i)), "y": i * i, "name": f"item{i}"}
        return self.transform(item) if self.transform else item


class Compose:
    def __init__(self, *fns):
        self.fns = fns

    def __call__(self, item):
        for f in self.fns:
            item = f(item)
        return item


class Countdown(IterableDataset):
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        yield from (torch.tensor([i]) for i in range(self.start, 0, -1))


class EvenFirst(Sampler):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        yield from range(0, self.n, 2)
        yield from range(1, self.n, 2)

    def __len__(self):
        return self.n


def pad_collate(batch):
    lens = torch.tensor([len(b) for b in batch])
    return torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-1), lens


torch.manual_seed(0)
ds = Squares(10)
b = next(iter(DataLoader(ds, batch_size=4)))
print(b["x"], b["y"], b["name"])

g = torch.Generator().manual_seed(5)
order1 = [x for batch in DataLoader(ds, batch_size=5, shuffle=True, generator=g) for x in batch["y"].tolist()]
g.manual_seed(5)
order2 = [x for batch in DataLoader(ds, batch_size=5, shuffle=True, generator=g) for x in batch["y"].tolist()]
print("reproducible:", order1 == order2, "complete:", sorted(order1) == [i * i for i in range(10)])

print("sampler:", [int(v["x"]) for v in DataLoader(ds, batch_size=None, sampler=EvenFirst(10))])
print("iterable:", [t.flatten().tolist() for t in DataLoader(Countdown(7), batch_size=3)])
print("drop last:", len(DataLoader(ds, batch_size=4, drop_last=True)), "keep:", len(DataLoader(ds, batch_size=4)))

seqs = [torch.arange(n) for n in (3, 1, 4, 2)]
for padded, lens in DataLoader(seqs, batch_size=2, collate_fn=pad_collate):
    print(padded.tolist(), lens.tolist())

labels = torch.tensor([0] * 90 + [1] * 10)
weights = (1.0 / torch.bincount(labels).float())[labels]
picked = labels[list(WeightedRandomSampler(weights, 1000, replacement=True))]
print("balanced share of class 1: %.1f" % picked.float().mean())

both = ConcatDataset([Squares(3), Subset(Squares(10), [7, 8])])
print("concat:", [both[i]["name"] for i in range(len(both))])
bs = BatchSampler(RandomSampler(range(6)), batch_size=4, drop_last=False)
print("batch sizes:", [len(x) for x in bs])

scaled = Squares(4, Compose(lambda d: {**d, "x": d["x"] / 10}, lambda d: (d["x"], d["y"])))
xs, ys = default_collate([scaled[i] for i in range(4)])
print(["%.1f" % v for v in xs], ys.tolist())
