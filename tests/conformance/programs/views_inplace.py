"""In-place writes on views: histories that are made anew, version counters, writes through no_grad, `data` and out=."""
import torch

torch.manual_seed(10)
leaf = torch.randn(3, 4, requires_grad=True)
base = leaf * 2
row, column = base[0], base[:, 1]
row.mul_(3)                                  # rewrites base's history, and column's with it
column.add_(1)
base.diagonal().zero_()
part = base.view(-1)[2:6].unfold(0, 2, 2)
part.sigmoid_()
print(base._version, row.grad_fn.name(), column.grad_fn.name(), base.grad_fn.name())
(base * base).sum().backward()
print(leaf.grad.tolist())

with torch.no_grad():
    leaf[1].fill_(0.5)
leaf.data.clamp_(-1, 1)
print(leaf._version, leaf.tolist())
out = torch.empty(3, 4)
torch.mul(leaf.detach(), 2, out=out)
torch.cumsum(out, 1, out=out)
chunks = out.chunk(2, dim=1)
chunks[0].copy_(chunks[1])
out[out > 0] = -1
out.index_put_((torch.tensor([0, 2]), torch.tensor([1, 1])), torch.tensor([9.0, 8.0]), accumulate=True)
out.scatter_(0, torch.tensor([[1, 1, 1, 1]]), 5.0).t_().squeeze_()
print(out.tolist(), out.shape, out.stride())
for a, b in zip(torch.split(out, 2), torch.unbind(out.t())):
    print(torch.stack([a.flatten()[:3], b[:3]]).tolist())
