"""Sentiment of short reviews with nn.EmbeddingBag, offsets and a vocabulary built by hand."""
import re
from collections import OrderedDict

import torch
from torch import nn

reviews = [
    ("a wonderful film with great acting", 1), ("truly great fun and a wonderful story", 1),
    ("I loved every minute of it", 1), ("the best movie of the year", 1),
    ("brilliant story and a brilliant cast", 1), ("funny, warm and moving", 1),
    ("a boring film with terrible acting", 0), ("truly awful and a terrible story", 0),
    ("I hated every minute of it", 0), ("the worst movie of the year", 0),
    ("dull story and a weak cast", 0), ("slow, cold and boring", 0),
]


def tokenize(s):
    return re.findall(r"[a-z]+", s.lower())


vocab = OrderedDict({"<unk>": 0})
for text, _ in reviews:
    for tok in tokenize(text):
        vocab.setdefault(tok, len(vocab))
print("vocabulary size:", len(vocab))


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for text, label in batch:
        label_list.append(label)
        ids = torch.tensor([vocab.get(t, 0) for t in tokenize(text)], dtype=torch.int64)
        text_list.append(ids)
        offsets.append(ids.size(0))
    return (torch.tensor(label_list), torch.cat(text_list), torch.tensor(offsets[:-1]).cumsum(dim=0))


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, mode="mean")
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.fc.weight.data.uniform_(-0.5, 0.5)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


torch.manual_seed(0)
model = TextClassificationModel(len(vocab), 8, 2)
loader = torch.utils.data.DataLoader(reviews, batch_size=4, shuffle=True, collate_fn=collate_batch)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, gamma=0.5)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 31):
    acc, count = 0, 0
    for label, text, offsets in loader:
        optimizer.zero_grad()
        out = model(text, offsets)
        loss = criterion(out, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        acc += (out.argmax(1) == label).sum().item()
        count += label.size(0)
    scheduler.step()
    if epoch % 10 == 0:
        print("| epoch %2d | accuracy %.3f | loss %.3f" % (epoch, acc / count, loss.item()))

model.eval()
tests = ["a great and funny movie", "terrible, dull film", "the best cast", "zzz unknown words"]
_, text, offsets = collate_batch([(t, 0) for t in tests])
with torch.no_grad():
    for t, p in zip(tests, model(text, offsets).softmax(1)[:, 1].tolist()):
        print("%-26s p(positive) = %.2f" % (t, p))
