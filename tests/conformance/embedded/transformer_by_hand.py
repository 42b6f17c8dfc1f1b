"""A small language model by hand: embeddings, causal attention, a block, two steps."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(c, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf")).softmax(dim=-1)
        x = x + self.out((att @ v).transpose(1, 2).contiguous().view(b, t, c))
        return x + self.mlp(self.ln2(x))


torch.manual_seed(25)
tokens = torch.randint(0, 11, (2, 7))
embed, place, block, head = nn.Embedding(11, 8), nn.Embedding(8, 8), Block(8, 2), nn.Linear(8, 11, bias=False)
head.weight = embed.weight
parameters = {id(p): p for m in (embed, place, block, head) for p in m.parameters()}.values()
optimizer = torch.optim.AdamW(parameters, lr=1e-2)
for step in range(2):
    x = embed(tokens[:, :-1]) + place(torch.arange(6))
    loss = F.cross_entropy(head(block(x)).view(-1, 11), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
with torch.no_grad():
    ids = tokens[:1, :2]
    for _ in range(3):
        logits = head(block(embed(ids) + place(torch.arange(ids.size(1)))))[:, -1]
        ids = torch.cat([ids, logits.softmax(-1).argmax(-1, keepdim=True)], dim=1)
print(ids)
