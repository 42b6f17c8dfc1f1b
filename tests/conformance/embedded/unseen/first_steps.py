"""The first page of every tutorial."""
import torch

data = [[1, 2], [3, 4]]
x = torch.tensor(data)
print(x)
print(torch.ones_like(x), torch.rand_like(x, dtype=torch.float).shape)
tensor = torch.ones(4, 4)
print(f"First row: {tensor[0]}")
print(f"First column: {tensor[:, 0]}")
print(f"Last column: {tensor[..., -1]}")
tensor[:, 1] = 0
print(tensor)
t1 = torch.cat([tensor, tensor, tensor], dim=1)
print(t1)
y1 = tensor @ tensor.T
y2 = tensor.matmul(tensor.T)
y3 = torch.rand_like(y1)
torch.matmul(tensor, tensor.T, out=y3)
z1 = tensor * tensor
agg = tensor.sum()
print(agg.item(), type(agg.item()), torch.equal(y1, y2), torch.equal(y1, y3))
tensor.add_(5)
print(tensor)
