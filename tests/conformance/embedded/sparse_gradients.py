"""Gradients through and into sparse tensors: products, values, casts between layouts, embeddings, optimizers with sparse gradients."""
import torch
from torch import nn

torch.manual_seed(3)
i = torch.tensor([[0, 0, 2], [1, 3, 0]])
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
a = torch.sparse_coo_tensor(i, v, (3, 4))
x = torch.randn(4, 2, requires_grad=True)
print(a.requires_grad, a.is_leaf, a.grad_fn.name())
y = torch.sparse.mm(a, x)
print(y)
y.pow(2).sum().backward()
print(v.grad, x.grad)

s = torch.sparse_coo_tensor(i, [1.0, 2.0, 3.0], (3, 4), requires_grad=True)
print(s)
(torch.sparse.mm(s, x.detach()) * torch.tensor([1.0, 2.0])).sum().backward()
print(s.grad)
d = torch.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
sp = d.to_sparse()
print(sp.grad_fn.name())
(sp.to_dense() * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
print(d.grad)
c = torch.sparse_coo_tensor(i, v.detach(), (3, 4)).coalesce().requires_grad_()
torch.sparse.sum(c).backward()
print(c.grad)
c.grad = None
torch.sparse.sum(c, dim=0).to_dense().pow(2).sum().backward()
print(c.grad.to_dense())
w = c.detach().requires_grad_()
(w * 3).to_dense().sum().backward()
print(w.grad.to_dense())

table = nn.Embedding(6, 3, sparse=True)
print(table)
table(torch.tensor([[1, 2], [4, 2]])).sum().backward()
table(torch.tensor([5])).pow(2).sum().backward()
print(table.weight.grad, table.weight.grad.coalesce().values().shape)
print(table.weight.grad.to_dense())
for make in (lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.SparseAdam(p, lr=0.1), lambda p: torch.optim.Adagrad(p, lr=0.1)):
    torch.manual_seed(1)
    table = nn.Embedding(5, 2, padding_idx=0, sparse=True)
    optimizer = make(list(table.parameters()))
    for step in range(3):
        optimizer.zero_grad()
        loss = (table(torch.tensor([0, 1, 1, 3])) - 1).pow(2).sum()
        loss.backward()
        optimizer.step()
    print(type(optimizer).__name__, loss.item(), table.weight.detach())
try:
    torch.optim.Adam(table.parameters()).step()
except RuntimeError as e:
    print(e)
table.zero_grad(set_to_none=False)
print(table.weight.grad._nnz())
try:
    torch.optim.SparseAdam([torch.zeros(2).to_sparse()])
except ValueError as e:
    print(e)
