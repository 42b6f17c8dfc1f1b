"""Answers to a homework sheet about creating, reshaping, indexing and reducing tensors."""
import torch

torch.manual_seed(123)

print("--- Question 1: creation ---")
a = torch.arange(12)
b = torch.zeros(2, 3)
c = torch.ones_like(b, dtype=torch.int64)
d = torch.linspace(0, 1, steps=5)
e = torch.eye(3)
print(a.shape, a.dtype)
print(b, c, d, e, sep="\n")

print("--- Question 2: reshape and view ---")
m = a.reshape(3, 4)
print(m)
print(m.t().is_contiguous(), m.t().contiguous().is_contiguous())
print(m.view(2, -1).shape, m.unsqueeze(0).shape, m[None, ..., None].squeeze().shape)
v = m.view(-1)
v[0] = 100
print("m[0,0] after writing to the view:", m[0, 0].item())

print("--- Question 3: indexing ---")
print(m[1:, ::2])
print(m[m > 6])
print(m[[0, 2], [1, 3]])
print(torch.where(m % 2 == 0, m, -m))
rows = torch.tensor([[0, 1], [2, 0], [3, 3]])
print(torch.gather(m, 1, rows))

print("--- Question 4: reductions ---")
f = torch.rand(3, 4)
print("sum over rows", ["%.4f" % s for s in f.sum(dim=0).tolist()])
print("mean over columns", ["%.4f" % s for s in f.mean(dim=1).tolist()])
val, idx = f.max(dim=1)
print("argmax", idx.tolist(), torch.equal(idx, f.argmax(1)))
print("std %.4f var %.4f median %.4f" % (f.std(), f.var(), f.median()))
print("cumsum", torch.cumsum(torch.arange(1, 6), 0).tolist())

print("--- Question 5: broadcasting ---")
col = torch.arange(3).unsqueeze(1)
row = torch.arange(4).unsqueeze(0)
print(col * 10 + row)
try:
    torch.ones(3, 4) + torch.ones(3)
except RuntimeError as err:
    print("RuntimeError:", str(err).split("(")[0].strip())

print("--- Question 6: joining ---")
p, q = torch.full((2, 2), 1.0), torch.full((2, 2), 2.0)
print(torch.cat([p, q], dim=1))
print(torch.stack([p, q]).shape)
for chunk in torch.chunk(torch.arange(7), 3):
    print(chunk.tolist())
