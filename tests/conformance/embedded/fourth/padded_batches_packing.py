"""Variable length sequences: pad_sequence in a collate function, packing for an LSTM, masked mean pooling."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class ParityDataset(Dataset):
    """Label: is the number of ones larger than the number of twos?"""

    def __init__(self, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(3, 10, (1,), generator=g))
            seq = torch.randint(1, 4, (length,), generator=g)
            self.items.append((seq, float((seq == 1).sum() > (seq == 2).sum())))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


def collate_fn(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 12, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        mask = (torch.arange(out.size(1))[None] < lengths[:, None]).unsqueeze(-1)
        pooled = (out * mask).sum(1) / lengths[:, None]
        return self.fc(pooled).squeeze(1)


torch.manual_seed(0)
loader = DataLoader(ParityDataset(320), batch_size=32, shuffle=True, collate_fn=collate_fn)
x, lengths, y = next(iter(loader))
print("batch", tuple(x.shape), "lengths", lengths[:6].tolist(), "labels", y[:6].tolist())
print("first row", x[0].tolist())

model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=0.02)
bce = nn.BCEWithLogitsLoss()
for epoch in range(5):
    hits = n = 0
    for x, lengths, y in loader:
        logit = model(x, lengths)
        loss = bce(logit, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += ((logit > 0) == y.bool()).sum().item()
        n += len(y)
    print("epoch %d accuracy %.2f last loss %.2f" % (epoch, hits / n, loss.item()))

# padding must not change the answer
model.eval()
with torch.no_grad():
    a = model(torch.tensor([[1, 2, 1]]), torch.tensor([3]))
    b = model(torch.tensor([[1, 2, 1, 0, 0], [3, 3, 3, 2, 1]]), torch.tensor([3, 5]))
print("padding invariant:", torch.allclose(a[0], b[0], atol=1e-5))
print("pad embedding is zero:", bool((model.emb.weight[0] == 0).all()))
