"""A set of exercises on indexing, broadcasting, strides, gather/scatter and einsum with printed answers."""
import torch

torch.manual_seed(0)

print("== 1. views and strides")
a = torch.arange(12).reshape(3, 4)
b = a.t()
print(a.stride(), b.stride(), b.is_contiguous(), b.contiguous().stride())
a[0, 0] = 100
print("transpose sees the change:", b[0, 0].item())
print(torch.as_strided(torch.arange(6), (4, 3), (1, 1)).tolist())

print("== 2. broadcasting")
rows, cols = torch.arange(3).unsqueeze(1), torch.arange(4)
print((rows * 10 + cols).tolist())
try:
    torch.ones(3, 2) + torch.ones(3)
except RuntimeError as e:
    print("error:", str(e).split(" at ")[0])

print("== 3. fancy indexing")
m = torch.arange(20).view(4, 5)
print(m[[0, 2], [1, 3]].tolist(), m[:, [0, -1]].tolist(), m[m % 7 == 0].tolist())
print(m[..., None].shape, m[None].shape, m[::2, ::2].tolist())

print("== 4. gather and scatter")
scores = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]])
label = torch.tensor([1, 2])
print(scores.gather(1, label[:, None]).squeeze(1))
print(torch.zeros(2, 3, dtype=torch.long).scatter_(1, label[:, None], 1).tolist())
print(torch.zeros(4).scatter_add(0, torch.tensor([0, 1, 1, 3, 3, 3]), torch.ones(6)).tolist())
print(torch.zeros(3).scatter_reduce(0, torch.tensor([0, 0, 2]), torch.tensor([5., 9., 4.]), "amax").tolist())

print("== 5. einsum")
q, k = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
print(torch.allclose(torch.einsum("bqd,bkd->bqk", q, k), q @ k.mT, atol=1e-6))
sq = torch.arange(9.).view(3, 3)
print("trace", torch.einsum("ii->", sq).item(), "diag", torch.einsum("ii->i", sq).tolist())

print("== 6. sorting, unique, cumulative")
v = torch.tensor([3, 1, 2, 3, 1, 3])
u, inv, cnt = torch.unique(v, return_inverse=True, return_counts=True)
print(u.tolist(), inv.tolist(), cnt.tolist())
print(torch.cumsum(v, 0).tolist(), torch.cummax(v, 0).values.tolist(), v.argsort(stable=True).tolist())
print(torch.bucketize(torch.tensor([0.5, 1.0, 2.5]), torch.tensor([1.0, 2.0, 3.0])).tolist())

print("== 7. shape shuffling")
img = torch.arange(16).view(4, 4)
patches = img.unfold(0, 2, 2).unfold(1, 2, 2).reshape(4, 4)
print(patches.tolist())
print(img.roll((1, 1), (0, 1))[0].tolist(), torch.rot90(img)[0].tolist(), img.triu(1).sum().item())
print([tuple(c.shape) for c in torch.arange(10).chunk(4)], [tuple(c.shape) for c in torch.arange(10).tensor_split(4)])

print("== 8. types")
print((torch.tensor([1, 2]) / 2).dtype, (torch.tensor([1, 2]) // 2).dtype, (torch.tensor(1) + 1.5).dtype)
print(torch.promote_types(torch.uint8, torch.int8), torch.tensor([250], dtype=torch.uint8).add(10).item())
print(torch.where(torch.tensor([1.0, float("nan"), -1.0]).isnan(), 0.0, 1.0).tolist())
