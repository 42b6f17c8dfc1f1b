"""Compare a hand-written multi-head attention with F.scaled_dot_product_attention, with and without masks."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


class SelfAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def split(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None, fused: bool = False) -> Tensor:
        q, k, v = map(self.split, self.qkv(x).chunk(3, dim=-1))
        if fused:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            out, _ = attention(q, k, v, mask)
        b, h, t, d = out.shape
        return self.proj(out.transpose(1, 2).reshape(b, t, h * d))


def main() -> None:
    torch.manual_seed(0)
    attn = SelfAttention(16, 4)
    x = torch.randn(2, 6, 16)
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    for name, mask in [("none", None), ("causal", causal)]:
        a = attn(x, mask)
        b = attn(x, mask, fused=True)
        print(f"{name:7s} shape {tuple(a.shape)} norm {a.norm():.4f} equal {torch.allclose(a, b, atol=1e-5)}")

    q = k = torch.eye(4)[None]
    v = torch.arange(4.0).view(1, 4, 1)
    out, w = attention(q, k, v, torch.ones(4, 4).tril().bool())
    print("weights of the last row", ["%.4f" % p for p in w[0, -1].tolist()])
    print("out", ["%.4f" % o for o in out.flatten().tolist()])

    # changing the future must not alter the past under a causal mask
    x2 = x.clone()
    x2[:, 4:] += 1.0
    same = torch.allclose(attn(x, causal)[:, :4], attn(x2, causal)[:, :4], atol=1e-6)
    print("causal property holds:", same)


if __name__ == "__main__":
    main()
