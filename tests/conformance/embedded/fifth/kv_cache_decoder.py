"""Checks that decoding with a key/value cache gives the same tokens and logits as recomputing the whole prefix."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1234)


class CachedAttention(nn.Module):
    def __init__(self, d, n_heads, n_kv_heads):
        super().__init__()
        self.h, self.kv, self.hd = n_heads, n_kv_heads, d // n_heads
        self.q = nn.Linear(d, n_heads * self.hd, bias=False)
        self.k = nn.Linear(d, n_kv_heads * self.hd, bias=False)
        self.v = nn.Linear(d, n_kv_heads * self.hd, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin, cache=None):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, self.h, self.hd).transpose(1, 2)
        k = self.k(x).view(B, T, self.kv, self.hd).transpose(1, 2)
        v = self.v(x).view(B, T, self.kv, self.hd).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            if "k" in cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(B, T, -1))


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Block(nn.Module):
    def __init__(self, d, heads, kv_heads):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.attn = CachedAttention(d, heads, kv_heads)
        self.w1, self.w2, self.w3 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.Linear(d, 2 * d)

    def forward(self, x, cos, sin, cache):
        x = x + self.attn(self.n1(x), cos, sin, cache)
        h = self.n2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Decoder(nn.Module):
    def __init__(self, vocab=50, d=32, heads=4, kv_heads=2, layers=2, max_len=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList([Block(d, heads, kv_heads) for _ in range(layers)])
        self.norm = nn.RMSNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)
        half = d // heads // 2
        freq = 10000.0 ** (-torch.arange(half) / half)
        ang = torch.outer(torch.arange(max_len), freq)
        self.register_buffer("cos", ang.cos(), persistent=False)
        self.register_buffer("sin", ang.sin(), persistent=False)

    def forward(self, ids, start=0, caches=None):
        T = ids.shape[1]
        cos, sin = self.cos[start:start + T], self.sin[start:start + T]
        x = self.emb(ids)
        for i, blk in enumerate(self.blocks):
            x = blk(x, cos, sin, None if caches is None else caches[i])
        return self.head(self.norm(x))


@torch.inference_mode()
def generate(model, ids, n, use_cache):
    caches = [dict() for _ in model.blocks] if use_cache else None
    logs, seen = [], 0
    for _ in range(n):
        inp = ids[:, seen:] if use_cache else ids
        logits = model(inp, seen if use_cache else 0, caches)[:, -1]
        seen = ids.shape[1]
        logs.append(logits)
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)
    return ids, torch.stack(logs, 1), caches


model = Decoder().eval()
prompt = torch.randint(0, 50, (2, 5))
a, la, _ = generate(model, prompt, 12, use_cache=False)
b, lb, caches = generate(model, prompt, 12, use_cache=True)
print("no cache:", a[0].tolist())
print("cache   :", b[0].tolist())
print("same tokens:", torch.equal(a, b))
print("logits close:", torch.allclose(la, lb, atol=1e-4), "mean abs logit %.4f" % la.abs().mean())
print("cache of layer 0:", tuple(caches[0]["k"].shape))
elems = sum(c["k"].numel() + c["v"].numel() for c in caches)
print("cached numbers in all:", elems)
