# Study notes: slicing, fancy indexing, gather/scatter, broadcasting and reshaping with printed results.
import torch

x = torch.arange(24).reshape(2, 3, 4)
print(x)
print(x[0, 1:, ::2])
print(x[..., -1])
print(x[:, None, 1].shape, x[..., None].shape)
print(x[x % 5 == 0])
print(x[[0, 1, 1], [2, 0, 1]])
print(x[:, torch.tensor([2, 0])][:, :, torch.tensor([True, False, False, True])])
print(x[torch.tensor([[0], [1]]), torch.tensor([0, 2])].shape)

# writing
y = torch.zeros(4, 5)
y[1] = torch.arange(5.)
y[:, 0] = -1
y[y < 0] = 9
y[[0, 3], [4, 4]] += 0.5
y[2:, 1:3] = torch.tensor([[1.], [2.]])
print(y)

# gather / scatter / take
scores = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]])
labels = torch.tensor([1, 2])
print(scores.gather(1, labels[:, None]).squeeze(1))
print(torch.zeros(2, 3).scatter_(1, labels[:, None], 1.0))
print(torch.zeros(2, 3, dtype=torch.long).scatter_add_(1, torch.tensor([[0, 0, 2], [1, 1, 1]]), torch.ones(2, 3, dtype=torch.long)))
print(torch.take(scores, torch.tensor([0, 5, 1])), torch.take_along_dim(scores, scores.argsort(1), 1))
print(x.index_select(2, torch.tensor([3, 0]))[0], torch.masked_select(scores, scores > 0.25))
print(torch.ones(3, 2).index_fill(0, torch.tensor([0, 2]), -1.0), torch.arange(5).index_copy(0, torch.tensor([4, 0]), torch.tensor([40, 0])))

# broadcasting
r, c = torch.arange(3)[:, None], torch.arange(4)
print(r * 10 + c)
print(torch.broadcast_shapes((3, 1), (1, 4), (2, 1, 1)))
dist = (torch.tensor([[0., 0.], [3., 4.]])[:, None] - torch.tensor([[0., 0.], [6., 8.], [3., 0.]])[None]).pow(2).sum(-1).sqrt()
print(dist)
try:
    torch.ones(3, 2) + torch.ones(3)
except RuntimeError as e:
    print("error:", e)

# reshaping
t = torch.arange(6)
print(t.view(2, 3).t(), t.view(2, 3).permute(1, 0).is_contiguous())
print(torch.cat([t, t[:2]]), torch.stack([t, -t]).shape, [s.tolist() for s in t.split([1, 2, 3])])
print([list(c.shape) for c in torch.arange(10).chunk(4)], torch.flip(t, [0]), t.roll(2))
print(torch.tile(t[:2], (2, 2)), t[:3].repeat_interleave(torch.tensor([1, 0, 2])))
print(x.flatten(1).shape, x.unflatten(2, (2, 2)).shape, x.movedim(0, -1).shape, x.squeeze().unsqueeze(1).size())
print(torch.triu(torch.ones(3, 3), diagonal=1), torch.diag(torch.tensor([1, 2])), torch.tril_indices(3, 3))
a, b = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
print(torch.stack([a, b], -1).reshape(-1, 2).tolist(), torch.cartesian_prod(torch.arange(2), torch.arange(2)))
print(torch.where(x[0] > 5, x[0], 0), torch.nonzero(x[0] > 9))
print(x.sum(dim=(0, 2)), x.float().mean(1), x.prod(2)[1], x.amax((1, 2)), x.argmax(), x.cumsum(1)[0])
