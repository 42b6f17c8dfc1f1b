"""Indexing: numbers, slices, lists, masks, assignments, where, gather, nonzero."""
import torch

x = torch.arange(24).view(2, 3, 4)
print(x[0, 1, 2], x[:, 1], x[..., -1], x[0, :, ::2], x[1, [0, 2]], x[:, :, None].shape)
print(x[x % 5 == 0], x[torch.tensor([1, 0]), torch.tensor([2, 0])], x[-1][-1])
y = x.float()
y[0, 0] = -1
y[:, 1] = torch.zeros(4)
y[y > 20] = 0.5
y[[0, 1], [2, 2], [3, 3]] = 7
print(y)
print(torch.where(y > 5, y, torch.zeros(())), torch.nonzero(y == 7), y.masked_select(y < 0), y.masked_fill(y == 7, 0.25)[0, 2])
print(torch.gather(x[0], 1, torch.tensor([[0], [1], [2]])), x.index_select(2, torch.tensor([3, 0]))[0])
w = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
(w[1:3].sum() + w[w > 0].sum() + w[[0, 0]].sum()).backward()
print(w.grad)
