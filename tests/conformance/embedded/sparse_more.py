"""Sparse tensors further: norms, stacks, narrow copies, functions of compressed rows, products at given places, diagonals, blocks, bags with sparse gradients."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
d = torch.tensor([[0.0, 1.5, 0.0, -2.0], [2.5, 0.0, -1.0, 0.0], [0.0, 0.0, 3.0, 0.0]])
s, m = d.to_sparse(), d.to_sparse_csr()
print(torch.norm(s), s.norm(1), torch.any(s), s.sum(0, keepdim=True).to_dense())
print(torch.stack([s, s]).shape, torch.stack([s, s * 2], 2).to_dense()[1], torch.cat([s, s], 1).to_dense())
print(s.narrow_copy(1, 1, 2).to_dense(), s[1], s[1, 0], s.select(1, 2).to_dense(), s.permute(1, 0).shape)
twice = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], (3, 4))
print((twice * s).coalesce(), (s * twice).to_dense())
print(torch.bmm(torch.stack([s, s]), torch.ones(2, 4, 2)))
s.sin_()
print(s.values(), torch.sqrt(torch.abs(m)).values(), (-m).values(), m.sum(1, keepdim=True).to_dense(), m[1].to_dense(), m[:, 2] if False else m.select(1, 2).to_dense())
print(m @ torch.eye(4), (torch.ones(2, 3) @ m), (m @ d.t().contiguous().to_sparse_csr()).to_dense(), (m * m).to_dense(), (m * d).values())
print(torch.sparse.sampled_addmm(m, torch.ones(3, 2), torch.ones(2, 4), beta=0.5))
print(torch.sparse.spdiags(torch.arange(9.0).reshape(3, 3) + 1, torch.tensor([0, -1, 2]), (3, 3)).to_dense())
c = d.to_sparse_csc()
print(c, c.to_sparse_csr().col_indices(), m.to_sparse_csc().row_indices(), s.to_sparse_csc().ccol_indices())
b = torch.arange(16.0).reshape(4, 4).to_sparse_bsr((2, 2))
print(b, b.to_dense(), b.layout, b._nnz())
x = d.clone().requires_grad_()
(torch.relu(x.to_sparse()).to_dense() * torch.arange(12.0).reshape(3, 4)).sum().backward()
print(x.grad)
r = d.to_sparse_csr().requires_grad_()
torch.sparse.mm(r, torch.ones(4, 2)).sum().backward()
print(r.grad)
z = torch.zeros_like(m)
print(z._nnz(), z.shape, m.clone().zero_()._nnz())

torch.manual_seed(1)
for mode in ("sum", "mean"):
    bag = nn.EmbeddingBag(6, 3, mode=mode, sparse=True)
    optimizer = torch.optim.SparseAdam(list(bag.parameters()), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        bag(torch.tensor([0, 1, 1, 4]), torch.tensor([0, 3])).pow(2).sum().backward()
        optimizer.step()
    print(bag.weight.grad, bag.weight.detach())
