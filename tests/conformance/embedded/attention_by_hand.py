"""Scaled dot product attention: as a formula and as one call, causal and masked, with gradients."""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(5)
q, k, v = (torch.randn(2, 2, 4, 3, requires_grad=True) for _ in range(3))
scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
mask = torch.tril(torch.ones(4, 4)).bool()
by_hand = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print(torch.allclose(by_hand, fused, atol=1e-6))
fused.sum().backward()
print(q.grad.norm().item(), k.grad.norm().item(), v.grad.norm().item())
masked = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
soft = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(4, 4))
print(torch.allclose(masked, fused, atol=1e-6), soft.sum().item())
print(F.scaled_dot_product_attention(torch.ones(2, 3, 4), torch.ones(2, 3, 4), torch.ones(2, 3, 4)).shape)
