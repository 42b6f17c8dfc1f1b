"""A decoder-only transformer as in many videos: heads as modules, buffers, generation."""
import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1337)
block_size, n_embd, vocab = 8, 16, 12


class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * C ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return wei @ self.value(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, n_embd), nn.Embedding(block_size, n_embd)
        self.heads = nn.ModuleList([Head(n_embd // 2) for _ in range(2)])
        self.ff = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.ReLU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(0.1))
        self.ln1, self.ln2, self.head = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd), nn.Linear(n_embd, vocab)
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.normal_(m.weight, mean=0.0, std=0.02)
            if m.bias is not None:
                torch.nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(T, device=idx.device))
        x = x + torch.cat([h(self.ln1(x)) for h in self.heads], dim=-1)
        x = x + self.ff(self.ln2(x))
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(B * T, vocab), targets.view(B * T))

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -block_size:])
            probs = F.softmax(logits[:, -1, :], dim=-1)
            idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
        return idx


model = Model()
print(sum(p.numel() for p in model.parameters()), "parameters")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = torch.randint(vocab, (100,))
for it in range(2):
    ix = torch.randint(len(data) - block_size, (4,))
    xb = torch.stack([data[i:i + block_size] for i in ix])
    yb = torch.stack([data[i + 1:i + block_size + 1] for i in ix])
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(it, loss.item())
print(model.generate(torch.zeros((1, 1), dtype=torch.long), 6)[0].tolist())
