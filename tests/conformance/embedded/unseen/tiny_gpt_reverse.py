# A minimal GPT (two pre-norm blocks, tied embeddings) trained for a few steps to reverse digit strings.
import math
import torch
import torch.nn as nn
from torch.nn import functional as F
torch.manual_seed(1337)
B, L, V, C, H = 8, 4, 12, 32, 4       # digits 0-9, 10 = separator, 11 = unused
T = 2 * L
class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.register_buffer("bias", torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = [t.view(B, T, H, C // H).transpose(1, 2) for t in (q, k, v)]
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(C, 2 * C), nn.GELU(approximate="tanh"), nn.Linear(2 * C, C))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(T, C)
        self.h = nn.ModuleList([Block() for _ in range(2)])
        self.ln_f = nn.LayerNorm(C)
        self.lm_head = nn.Linear(C, V, bias=False)
        self.lm_head.weight = self.wte.weight
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.1)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)

model = GPT()
print("params:", sum(p.numel() for p in model.parameters()))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
for step in range(4):
    d = torch.randint(0, 10, (B, L))
    seq = torch.cat([d, torch.full((B, 1), 10), d.flip(1)], dim=1)
    x, y = seq[:, :-1], seq[:, 1:].clone()
    y[:, :L] = -1
    _, loss = model(x, y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"step {step}: loss {loss.item():.4f}")
with torch.inference_mode():
    print(F.softmax(model(x[:1])[0][0, -1], dim=-1).topk(3))
