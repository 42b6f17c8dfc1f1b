"""Multi-head attention: weights, masks of both kinds, padding, another source, gradients."""
import torch
from torch import nn

torch.manual_seed(4)
x = torch.randn(2, 3, 8, requires_grad=True)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
out, weights = attention(x, x, x)
out.sum().backward()
print(out.shape, weights, x.grad.norm().item())
mask = torch.triu(torch.ones(3, 3), diagonal=1).bool()
out, weights = attention(x, x, x, attn_mask=mask)
print(weights[0])
padding = torch.tensor([[False, False, True], [False, False, False]])
out, _ = attention(x, x, x, key_padding_mask=padding, need_weights=False)
out.pow(2).sum().backward()
print(out.mean().item(), attention.in_proj_weight.grad.norm().item())
memory = torch.randn(2, 5, 8)
out, weights = nn.MultiheadAttention(8, 4, batch_first=True, dropout=0.1)(x, memory, memory, average_attn_weights=False)
print(out.shape, weights.shape)
