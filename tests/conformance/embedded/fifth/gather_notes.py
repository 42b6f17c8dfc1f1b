"""My notes while reading the documentation of gather, scatter and their relatives, each checked with a loop."""
import torch

torch.manual_seed(0)

# --- gather: out[i][j] = input[i][index[i][j]]  for dim=1
t = torch.tensor([[10, 11, 12], [20, 21, 22]])
idx = torch.tensor([[2, 0], [1, 1]])
print("gather dim 1:", t.gather(1, idx).tolist())
loop = [[t[i, idx[i, j]].item() for j in range(2)] for i in range(2)]
print("loop:        ", loop)
# dim=0: out[i][j] = input[index[i][j]][j]; index may be smaller than input!
print("gather dim 0:", t.gather(0, torch.tensor([[1, 0, 1]])).tolist())

# use 1: pick the score of the right class
scores = torch.tensor([[0.125, 0.75, 0.125], [0.5, 0.25, 0.25]])
label = torch.tensor([1, 2])
print("picked:", scores.gather(1, label[:, None]).squeeze(1).tolist(), scores[range(2), label].tolist())

# use 2: last valid step of every sequence
seq = torch.arange(24).view(2, 4, 3)
length = torch.tensor([2, 4])
last = seq.gather(1, (length - 1).view(-1, 1, 1).expand(-1, 1, 3)).squeeze(1)
print("last steps:", last.tolist())

# --- scatter: self[i][index[i][j]] = src[i][j]: the inverse of gather
one_hot = torch.zeros(2, 3).scatter_(1, label[:, None], 1.0)
print("one hot:", one_hot.tolist())
perm = torch.stack([torch.randperm(5), torch.randperm(5)])
x = torch.arange(10).view(2, 5)
back = torch.empty_like(x).scatter_(1, perm, x.gather(1, perm))
print("scatter undoes gather:", torch.equal(back, x))

# --- scatter_reduce: a small "group by"
shop = torch.tensor([0, 2, 0, 1, 2, 2])
price = torch.tensor([3.0, 5.0, 1.0, 8.0, 2.0, 2.0])
for how in ["sum", "mean", "amax", "amin", "prod"]:
    out = torch.zeros(4).scatter_reduce(0, shop, price, how, include_self=False)
    print(f"group {how:5s}", out.tolist())
# include_self=True counts the zeros that were there
print("with self:  ", [round(v, 3) for v in torch.zeros(4).scatter_reduce(0, shop, price, "mean").tolist()])
print("index_add:  ", torch.zeros(4).index_add(0, shop, price).tolist())
print("bincount:   ", torch.bincount(shop, weights=price, minlength=4).tolist())

# --- take_along_dim broadcasts, gather does not
m = torch.tensor([[3, 1, 2], [9, 7, 8]])
order = m.argsort(dim=1)
print("sorted:", m.take_along_dim(order, dim=1).tolist())
try:
    m.gather(1, torch.tensor([0, 1]))
except RuntimeError as e:
    print("gather complains:", str(e)[:60])

# --- index_select, take, masked_select, put_, index_put_
print("index_select:", m.index_select(1, torch.tensor([2, 0])).tolist())
print("take (flat): ", m.take(torch.tensor([0, 5, 4])).tolist())
print("masked:      ", m.masked_select(m > 2).tolist())
c = torch.zeros(3, dtype=torch.long)
c.index_put_((torch.tensor([0, 0, 2]),), torch.tensor([1, 1, 1]))
print("index_put without accumulate:", c.tolist())
c.zero_().index_put_((torch.tensor([0, 0, 2]),), torch.tensor([1, 1, 1]), accumulate=True)
print("index_put with accumulate:   ", c.tolist())

# --- gradients: gather's backward is scatter_add
w = torch.randn(2, 3, requires_grad=True)
w.gather(1, torch.tensor([[0, 0, 2], [1, 1, 1]])).sum().backward()
print("grad counts the uses:", w.grad.tolist())
