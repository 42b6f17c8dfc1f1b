# Dataset with variable-length sequences, a collate_fn that pads, and a packed GRU classifier.
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import Dataset, DataLoader, random_split, WeightedRandomSampler


class MajorityDataset(Dataset):
    def __init__(self, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        lengths = torch.randint(2, 5, (n,), generator=g)
        self.seqs = [torch.randint(1, 3, (int(l),), generator=g) for l in lengths]

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        s = self.seqs[i]
        return s, int((s == 2).float().mean() > 0.5)


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class GRUClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3, 8, padding_idx=0)
        self.gru = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        outs, h = self.gru(packed)
        self.last_outputs, _ = pad_packed_sequence(outs, batch_first=True)
        return self.out(h[-1]).squeeze(1)


torch.manual_seed(3)
full = MajorityDataset(30)
train, val = random_split(full, [20, 10], generator=torch.Generator().manual_seed(1))
print("sizes", len(train), len(val), "first indices", train.indices[:5])
loader = DataLoader(train, batch_size=10, shuffle=True, collate_fn=collate, drop_last=True)

model = GRUClassifier()
opt = torch.optim.Adam(model.parameters(), lr=0.02)
crit = nn.BCEWithLogitsLoss()
for epoch in range(2):
    tot, correct, seen = 0.0, 0, 0
    for x, lengths, y in loader:
        logit = model(x, lengths)
        loss = crit(logit, y.float())
        opt.zero_grad(); loss.backward(); opt.step()
        tot, seen = tot + loss.item() * len(y), seen + len(y)
        correct += ((logit > 0).long() == y).sum().item()
    print(f"epoch {epoch}: loss {tot / seen:.4f} acc {correct}/{seen}")

model.eval()
with torch.no_grad():
    x, lengths, y = next(iter(DataLoader(val, batch_size=4, collate_fn=collate)))
    p = model(x, lengths).sigmoid()
print(x, lengths, y, sep="\n")
print("outputs", model.last_outputs.shape, "padding grad", model.emb.weight.grad[0].abs().sum().item())
print("probs", p)
labels = torch.tensor([y for _, y in full])
weights = 1.0 / torch.bincount(labels).float()[labels]
print(labels.sum(), list(WeightedRandomSampler(weights, 8, generator=torch.Generator().manual_seed(5))))
