"""Functions of one sample made batched: attention, pairwise distances, a kernel matrix, losses, normalisations."""
import torch
import torch.nn.functional as F
from torch.func import grad, vmap

torch.manual_seed(8)
q, k, v = torch.randn(3, 4, 8), torch.randn(3, 6, 8), torch.randn(3, 6, 5)


def attention(q, k, v):
    return torch.softmax(q @ k.T / 8 ** 0.5, -1) @ v


out = vmap(attention)(q, k, v)
print(out.shape, torch.allclose(out, torch.softmax(q @ k.transpose(1, 2) / 8 ** 0.5, -1) @ v, atol=1e-5))
heads = vmap(vmap(attention, in_dims=(1, 1, 1), out_dims=1))(q.view(3, 4, 2, 4), k.view(3, 6, 2, 4), k.view(3, 6, 2, 4))
print(heads.shape)
points = torch.randn(5, 3)


def distance(a, b):
    return (a - b).pow(2).sum().sqrt()


pairs = vmap(lambda a: vmap(lambda b: distance(a, b))(points))(points)
print(torch.allclose(pairs, torch.cdist(points, points), atol=1e-3))
rbf = lambda a, b: torch.exp(-(a - b).pow(2).sum() / 2)
kernel = vmap(vmap(rbf, (None, 0)), (0, None))
print(kernel(points, points))
print(vmap(vmap(grad(rbf), (None, 0)), (0, None))(points, points).shape)
x, t = torch.randn(4, 6), torch.randn(4, 6)
print(vmap(F.mse_loss)(x, t), vmap(F.smooth_l1_loss)(x, t), vmap(F.huber_loss)(x, t), vmap(F.l1_loss)(x, t))
print(vmap(grad(F.mse_loss))(x, t)[0], vmap(grad(F.smooth_l1_loss))(x, t)[0])
print(vmap(F.cross_entropy)(x.view(4, 2, 3), torch.randint(0, 3, (4, 2))), vmap(grad(F.cross_entropy))(x.view(4, 2, 3), torch.randint(0, 3, (4, 2)))[0])
print(vmap(F.binary_cross_entropy_with_logits)(x, t.sigmoid()), vmap(lambda a, b: F.binary_cross_entropy(a.sigmoid(), b.sigmoid()))(x, t))
print(vmap(lambda a, w: F.layer_norm(a, (6,), w))(x, t), vmap(lambda a: F.group_norm(a.view(1, 2, 3), 2))(x)[0], vmap(lambda a: F.normalize(a, dim=0))(x)[0])
table = torch.randn(4, 7, 2)
print(vmap(lambda w, i: F.embedding(i, w))(table, torch.randint(0, 7, (4, 3))).shape, vmap(lambda i: F.embedding(i, table[0]))(torch.randint(0, 7, (4, 3))).shape)
print(vmap(grad(lambda w, i: F.embedding(i, w).sum()))(table, torch.randint(0, 7, (4, 3)))[0])
