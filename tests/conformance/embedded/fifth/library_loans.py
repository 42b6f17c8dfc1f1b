"""Learns book recommendations from library loans by BPR matrix factorisation with sparse embedding gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(99)
N_READERS, N_BOOKS, DIM = 60, 80, 8

# ground truth: four tastes; readers mostly borrow from their own shelf
taste_reader = torch.randint(0, 4, (N_READERS,))
taste_book = torch.randint(0, 4, (N_BOOKS,))
prob = torch.where(taste_reader[:, None] == taste_book[None, :], 0.35, 0.03)
loans = torch.bernoulli(prob).bool()
pairs = loans.nonzero()
print("number of loans:", len(pairs))

# hold out one in ten
order = torch.randperm(len(pairs))
cut = len(pairs) // 10
held, pairs = pairs[order[:cut]], pairs[order[cut:]]


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = nn.Embedding(N_READERS, DIM, sparse=True)
        self.book = nn.Embedding(N_BOOKS, DIM, sparse=True)
        self.bias = nn.Embedding(N_BOOKS, 1, sparse=True)
        nn.init.normal_(self.reader.weight, std=0.1)
        nn.init.normal_(self.book.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, r, b):
        return (self.reader(r) * self.book(b)).sum(-1) + self.bias(b).squeeze(-1)

    def all_scores(self):
        return self.reader.weight @ self.book.weight.T + self.bias.weight.T


m = BPR()
opt = torch.optim.SparseAdam(list(m.parameters()), lr=0.03)
for epoch in range(12):
    tot, n = 0.0, 0
    for batch in pairs[torch.randperm(len(pairs))].split(128):
        r, pos = batch[:, 0], batch[:, 1]
        neg = torch.randint(0, N_BOOKS, pos.shape)
        ok = ~loans[r, neg]
        r, pos, neg = r[ok], pos[ok], neg[ok]
        loss = -F.logsigmoid(m.score(r, pos) - m.score(r, neg)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item(); n += 1
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} bpr loss {tot / n:.4f}")

g = m.reader.weight.grad
print("gradient layout:", g.layout, "dense shape", tuple(g.shape))

with torch.no_grad():
    s = m.all_scores()
    s[pairs[:, 0], pairs[:, 1]] = -float("inf")      # don't recommend what was read
    top = s.topk(10, dim=1).indices
    hit = (top[held[:, 0]] == held[:, 1:]).any(1).float().mean()
    same = (taste_book[top] == taste_reader[:, None]).float().mean()
print(f"hit@10 on held-out loans: {hit.item():.3f}  (chance about {10 / N_BOOKS:.3f})")
print(f"recommended books of the reader's own taste: {same.item():.3f}")
