"""topk, sort, argsort, cumulative sums, unique, counts, medians, extremes."""
import torch

torch.manual_seed(13)
x = torch.randn(3, 5, requires_grad=True)
values, indices = torch.topk(x, 2)
print(values, indices)
values.sum().backward()
print(x.grad)
y = x.detach()
print(torch.sort(y, dim=1, descending=True).values[0], y.argsort(dim=0), y.max(dim=1), y.min().item(), y.argmax(dim=1), y.amax(0))
print(y.cumsum(1)[0], y.cumprod(0)[-1], y.clamp(-1, 1)[1], y.median(), y.median(dim=1).indices)
k = torch.tensor([3, 1, 2, 3, 1])
print(torch.unique(k), torch.unique(k, return_counts=True), torch.unique(k, return_inverse=True), torch.bincount(k), torch.bincount(k, weights=torch.ones(5) / 2))
print(torch.count_nonzero(k - 1), y.std(), y.var(dim=0), torch.std_mean(y, dim=1), (y > 0).any(dim=1), (y > -9).all(), y.prod(1), k.sum(), k.float().mean())
