# Forum answer: what gather, scatter_, index_add_, take_along_dim and friends do, with small examples.
import torch

x = torch.arange(12).reshape(3, 4)
print("x =\n", x, sep="")

# gather: out[i][j] = x[i][index[i][j]] for dim=1
idx = torch.tensor([[0, 1], [3, 2], [1, 1]])
print("gather dim 1:\n", x.gather(1, idx))
print("gather dim 0:\n", torch.gather(x, 0, torch.tensor([[2, 0, 1, 2]])))

# picking the Q value of the chosen action
q = torch.tensor([[0.1, 0.5], [2.0, -1.0], [0.0, 3.0]], requires_grad=True)
actions = torch.tensor([1, 0, 1])
chosen = q.gather(1, actions.unsqueeze(1)).squeeze(1)
print("chosen:", chosen)
chosen.sum().backward()
print("grad:\n", q.grad)

# same thing with advanced indexing
print("same?", torch.equal(chosen, q[torch.arange(3), actions]))

# one hot with scatter_
labels = torch.tensor([2, 0, 3])
onehot = torch.zeros(3, 4).scatter_(1, labels[:, None], 1.0)
print("onehot:\n", onehot)

# counting, summing and averaging per group
group = torch.tensor([0, 2, 1, 2, 0, 2])
vals = torch.tensor([[1., 10.], [2., 20.], [3., 30.], [4., 40.], [5., 50.], [6., 60.]])
sums = torch.zeros(3, 2).index_add_(0, group, vals)
counts = torch.zeros(3).scatter_add_(0, group, torch.ones(6))
print("sums:\n", sums)
print("means:\n", sums / counts.unsqueeze(1))
mx = torch.full((3, 2), float("-inf")).scatter_reduce(
    0, group[:, None].expand(-1, 2), vals, reduce="amax")
print("max:\n", mx)

# undo a sort
v = torch.tensor([3.5, -1.0, 2.25, 9.0, 0.0])
s, perm = v.sort()
inv = torch.empty_like(perm)
inv[perm] = torch.arange(len(perm))
print(s, perm, inv, torch.equal(s[inv], v))

m = torch.tensor([[5, 1, 3], [2, 9, 4]])
order = m.argsort(dim=1)
print(torch.take_along_dim(m, order, dim=1))
print(torch.index_select(m, 1, torch.tensor([2, 0])))
print(m.index_fill(1, torch.tensor([1]), -1))
print(torch.take(m, torch.tensor([0, 4, 5])), m.masked_select(m > 3), torch.nonzero(m > 3))

try:
    x.gather(1, torch.tensor([[4]]))
except (RuntimeError, IndexError) as e:
    print("error:", str(e).splitlines()[0])
