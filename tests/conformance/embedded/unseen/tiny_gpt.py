# A minimal decoder-only transformer trained on a repetitive sentence, with top-k and top-p sampling.
import math
import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1234)

text = "hello world, hello there, hello you. " * 3
vocab = sorted(set(text))
enc = {c: i for i, c in enumerate(vocab)}
data = torch.tensor([enc[c] for c in text], dtype=torch.long)
block, n_embd, n_head = 16, 24, 3


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(n_embd, dim=2)
        q, k, v = [t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in (q, k, v)]
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, V):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, n_embd), nn.Embedding(block, n_embd)
        self.h = nn.ModuleList([Block() for _ in range(2)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, V, bias=False)
        self.lm_head.weight = self.wte.weight
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.05)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        for blk in self.h:
            x = blk(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


model = GPT(len(vocab))
print("parameters:", sum(p.numel() for p in model.parameters()))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for it in range(5):
    ix = torch.randint(len(data) - block - 1, (8,))
    xb = torch.stack([data[i:i + block] for i in ix])
    yb = torch.stack([data[i + 1:i + block + 1] for i in ix])
    _, loss = model(xb, yb)
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"iter {it} loss {loss.item():.4f}")

model.eval()
with torch.inference_mode():
    logits, _ = model(data[:block][None])
    last = logits[0, -1]
    v, i = torch.topk(last, 5)
    print("top5:", [(vocab[j], round(p, 3)) for j, p in zip(i.tolist(), v.tolist())])
    sl, si = torch.sort(last, descending=True)
    cum = sl.softmax(-1).cumsum(-1)
    drop = cum - sl.softmax(-1) > 0.8
    nucleus = last.clone().scatter_(0, si[drop], -float("inf"))
    print("kept by top-p:", torch.isfinite(nucleus).sum().item(), "of", len(vocab))
    print("draws:", torch.multinomial(nucleus.softmax(-1), 6, replacement=True).tolist())
