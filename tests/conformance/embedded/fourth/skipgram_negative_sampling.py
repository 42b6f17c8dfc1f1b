"""word2vec skip-gram with negative sampling on a toy corpus, then nearest neighbours by cosine."""
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

corpus = """
the king rules the land and the queen rules the land
the king wears a crown and the queen wears a crown
a dog chases a cat and a cat chases a mouse
the dog eats food and the cat eats food
the king eats bread and the queen eats bread
a mouse eats cheese and the dog barks at the cat
""".split()

WINDOW, DIM, NEG = 2, 16, 4
counts = Counter(corpus)
vocab = sorted(counts)
w2i = {w: i for i, w in enumerate(vocab)}
ids = [w2i[w] for w in corpus]
pairs = [(ids[i], ids[j]) for i in range(len(ids))
         for j in range(max(0, i - WINDOW), min(len(ids), i + WINDOW + 1)) if i != j]
pairs = torch.tensor(pairs)
print(len(corpus), "tokens", len(vocab), "types", len(pairs), "pairs")

freq = torch.tensor([counts[w] for w in vocab], dtype=torch.float)
noise = freq ** 0.75
noise /= noise.sum()


class SkipGramNeg(nn.Module):
    def __init__(self, n_vocab, n_embed):
        super().__init__()
        self.in_embed = nn.Embedding(n_vocab, n_embed)
        self.out_embed = nn.Embedding(n_vocab, n_embed)
        nn.init.uniform_(self.in_embed.weight, -0.5, 0.5)
        nn.init.zeros_(self.out_embed.weight)

    def forward(self, center, context, negatives):
        v = self.in_embed(center)
        pos = (v * self.out_embed(context)).sum(-1)
        neg = torch.bmm(self.out_embed(negatives), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(-1)).mean()


torch.manual_seed(11)
model = SkipGramNeg(len(vocab), DIM)
opt = torch.optim.Adagrad(model.parameters(), lr=0.3)
for epoch in range(30):
    perm = torch.randperm(len(pairs))
    tot = 0.0
    for chunk in perm.split(64):
        c, o = pairs[chunk].T
        negs = torch.multinomial(noise, len(chunk) * NEG, replacement=True).view(-1, NEG)
        loss = model(c, o, negs)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(chunk)
    if epoch % 10 == 9:
        print("epoch %d loss %.3f" % (epoch + 1, tot / len(pairs)))

emb = F.normalize(model.in_embed.weight.detach(), dim=1)
for word in ("king", "dog", "eats"):
    sims = emb @ emb[w2i[word]]
    top = sims.topk(4).indices.tolist()[1:]
    print(word, "~", ", ".join("%s %.2f" % (vocab[i], sims[i].item()) for i in top))
