"""Broadcasting rules, comparisons, reductions over several axes, statistics of rows."""
import torch

a = torch.arange(6.0).reshape(2, 3)
b = torch.tensor([10.0, 20.0, 30.0])
print(a + b, a * b[:2, None], (a[:, None] - a[None]).abs().sum(-1))
print(a.mean(dim=(0, 1)), a.sum(dim=0, keepdim=True), a.var(dim=1, unbiased=False), torch.std(a))
print(torch.where(a > 2, a, -a), (a > 2).sum(), torch.logical_and(a > 1, a < 4), a.clamp(1, 4), torch.sign(a - 2), torch.quantile(a, 0.5))
try:
    a + torch.ones(4)
except RuntimeError as e:
    print("error:", e)
