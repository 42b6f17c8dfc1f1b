"""vmap: of element-wise operators, reductions, views, products, indices; where batches lie; nested; in place; in chunks."""
import torch
from torch.func import vmap

torch.manual_seed(2)
x, y, m = torch.randn(3, 4), torch.randn(3, 4), torch.randn(3, 4, 5)
print(vmap(torch.dot)(x, y))
print(vmap(torch.mv)(m.transpose(1, 2), x).shape, vmap(lambda a, b: a @ b, in_dims=(0, None))(m, torch.randn(5, 2)).shape)
print(vmap(lambda a: a * 2 + a.sin())(x), vmap(lambda a, b: a * b, in_dims=(0, None))(x, y[0]))
print(vmap(lambda a: a.sum(), in_dims=1)(x), vmap(lambda a: a.softmax(-1), in_dims=1, out_dims=1)(x))
print(vmap(lambda a: (a.max(), a.min(0), a.mean(-1, keepdim=True), a.std()))(x))
print([t.shape for t in vmap(lambda a: (a.t(), a.reshape(-1), a[1:, 0], a.unsqueeze(-1), a.expand(2, 4, 5), a.flip(0), a.diagonal(), a.squeeze()))(m)])
print(vmap(lambda a: torch.stack([a, a.exp()]))(x).shape, vmap(lambda a, b: torch.cat([a, b]), in_dims=(0, None))(x, y[0]).shape)
print(vmap(vmap(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(x[0], y[:, 0]))
print(vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": y[0]}))
print(vmap(lambda a: {"twice": a * 2, "sum": a.sum()})(x))
print(vmap(lambda a, i: a[i], in_dims=(0, 0))(x, torch.tensor([1, 2, 3])), vmap(lambda a: a[torch.tensor([0, 2])])(x))
print(vmap(lambda a, i: a.gather(0, i))(x, torch.tensor([[0, 1], [2, 3], [1, 1]])), vmap(lambda a: torch.where(a > 0, a, 0.0))(x))


def in_place(a):
    out = a.clone()
    out[0] = 7
    out.mul_(2).add_(a)
    out[1:3] = a[:2]
    return out


print(vmap(in_place)(x))
print(vmap(lambda a: a.cumsum(0).sort().values)(x), vmap(lambda a: a.topk(2)[1])(x), vmap(lambda a: a.argmax())(x))
print(vmap(lambda a: a.view(2, 2).roll(1, 0).tril())(x), vmap(lambda a: a.unfold(0, 2, 1))(x).shape)
print(vmap(lambda a: a.sum(), chunk_size=2)(x), vmap(lambda a: a * 2, in_dims=1, out_dims=1, chunk_size=3)(x))
print(vmap(lambda a: torch.zeros(2))(x).shape, vmap(lambda a, k=1.0: a * k)(x, k=3.0)[0])
print(vmap(lambda a: torch.einsum("ij,kj->ik", a, a))(m).shape, vmap(lambda s, v: s * v)(torch.ones(3), x), vmap(lambda s: s + 1)(torch.arange(3)))
print(vmap(lambda a, b: (a == b, a.lt(b), torch.maximum(a, b), a.clamp(-1, 1), a.clamp_min(b)))(x, y))
print(vmap(torch.outer)(x, y).shape, vmap(torch.trace)(m[:, :, :4]), vmap(torch.linalg.inv)(torch.eye(2).expand(3, 2, 2) * 2.0)[0])
