"""Autocast on the CPU in bfloat16: the cast of a weight is cached, and the cache's entry made under no_grad isn't used with gradients."""
import torch
from torch import nn

torch.manual_seed(4)
layer = nn.Linear(4, 3)
x = torch.randn(2, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    with torch.no_grad():
        first = layer(x)
    second = layer(x)
    third = layer(x) @ second.t()           # a hit of the cache
    wide = nn.functional.softmax(third, dim=-1)
    with torch.autocast("cpu", enabled=False):
        plain = layer(x)
loss = wide.float().pow(2).sum() + plain.sum()
loss.backward()
print(first.dtype, second.dtype, wide.dtype, plain.dtype, second.grad_fn.name())
print(loss.item().hex(), layer.weight.grad.tolist())

attention = nn.MultiheadAttention(8, 2, batch_first=True)
q = torch.randn(2, 3, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    out, weights = attention(q, q, q)
out.float().sum().backward()
print(out.tolist(), q.dtype, weights.dtype)
