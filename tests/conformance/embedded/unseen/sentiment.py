"""Padded sentences, an averaged embedding, a binary label."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(11)
texts = [([1, 4, 2], 1.0), ([3, 3], 0.0), ([5, 1, 1, 2], 1.0), ([6], 0.0)]


def collate(batch):
    ids = [torch.tensor(t) for t, _ in batch]
    return pad_sequence(ids, batch_first=True), torch.tensor([y for _, y in batch])


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 5, padding_idx=0)
        self.fc = nn.Linear(5, 1)

    def forward(self, x):
        mask = (x != 0).unsqueeze(-1)
        e = self.emb(x) * mask
        return self.fc(e.sum(1) / mask.sum(1).clamp(min=1)).squeeze(-1)


model = Bag()
opt = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(texts, batch_size=2, shuffle=True, collate_fn=collate):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, round(loss.item(), 5))
