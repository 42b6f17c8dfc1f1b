"""Classify short reviews as positive or negative with nn.EmbeddingBag and a custom collate function."""
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

REVIEWS = [
    ("what a great movie", 1), ("i loved the acting", 1), ("really good story", 1), ("great fun for the family", 1),
    ("a good and moving film", 1), ("loved every minute", 1), ("the best movie this year", 1), ("fun and clever", 1),
    ("what a terrible movie", 0), ("i hated the acting", 0), ("really bad story", 0), ("boring and too long", 0),
    ("a bad and silly film", 0), ("hated every minute", 0), ("the worst movie this year", 0), ("dull and boring", 0),
]


def tokenize(text):
    return text.lower().split()


def build_vocab(rows, min_freq=1):
    counter = Counter()
    for text, _ in rows:
        counter.update(tokenize(text))
    vocab = {"<unk>": 0}
    for word, freq in sorted(counter.items(), key=lambda kv: (-kv[1], kv[0])):
        if freq >= min_freq:
            vocab[word] = len(vocab)
    return vocab


class ReviewDataset(Dataset):
    def __init__(self, rows, vocab):
        self.rows, self.vocab = rows, vocab

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return torch.tensor([self.vocab.get(w, 0) for w in tokenize(text)]), label


def collate(batch):
    labels = torch.tensor([b[1] for b in batch])
    offsets = torch.tensor([0] + [len(b[0]) for b in batch[:-1]]).cumsum(0)
    return torch.cat([b[0] for b in batch]), offsets, labels


class Classifier(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab_size, dim, mode="mean")
        self.fc = nn.Linear(dim, 2)
        nn.init.uniform_(self.emb.weight, -0.5, 0.5)

    def forward(self, text, offsets):
        return self.fc(self.emb(text, offsets))


torch.manual_seed(0)
vocab = build_vocab(REVIEWS)
print("vocab size", len(vocab), list(vocab)[:6])
loader = DataLoader(ReviewDataset(REVIEWS, vocab), batch_size=4, shuffle=True, collate_fn=collate)
model = Classifier(len(vocab))
opt = torch.optim.SGD(model.parameters(), lr=1.0)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(30):
    total = 0
    for text, offsets, labels in loader:
        loss = loss_fn(model(text, offsets), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 10 == 9:
        print("epoch %d loss %.4f" % (epoch + 1, total / len(loader)))

model.eval()
for text in ["a great story", "boring film", "the acting was bad", "clever and good"]:
    ids = torch.tensor([vocab.get(w, 0) for w in tokenize(text)])
    p = model(ids, torch.tensor([0])).softmax(1)[0, 1].item()
    print(f"{text!r}: {'positive' if p > 0.5 else 'negative'}")
