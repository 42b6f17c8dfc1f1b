"""Data sets of one's own: by number, iterable, concatenated; samplers, generators, collate functions."""
import torch
from torch.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler, Subset,
                              SubsetRandomSampler, WeightedRandomSampler)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i)]), "y": i * i, "name": "item %d" % i, "w": i / 2}


class Count(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(5))


torch.manual_seed(8)
for batch in DataLoader(Squares(5), batch_size=2, shuffle=True, drop_last=True):
    print(batch["x"].flatten().tolist(), batch["y"], batch["name"], batch["w"].dtype)
print([b.tolist() for b in DataLoader(Count(), batch_size=2)])
both = ConcatDataset([Subset(Squares(6), [4, 5]), Squares(2)])
print(len(both), both[2]["y"], len(DataLoader(both, batch_size=3)))
g = torch.Generator().manual_seed(3)
print([b["y"].tolist() for b in DataLoader(Squares(6), batch_size=3, shuffle=True, generator=g)])
print(list(BatchSampler(SequentialSampler(range(5)), 2, False)), list(RandomSampler(range(4), replacement=True, num_samples=6)))
print(list(SubsetRandomSampler([3, 1, 4])), list(WeightedRandomSampler([0.1, 0.9, 0.0], 4)))
print([b for b in DataLoader([1, 2, 3], batch_size=2, collate_fn=sum)])
