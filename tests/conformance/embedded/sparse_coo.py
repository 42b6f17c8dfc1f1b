"""Sparse tensors of coordinates: made in each way, looked at, printed, computed with, and what is wrong with some."""
import torch

i = torch.tensor([[0, 1, 1], [2, 0, 2]])
v = torch.tensor([3.0, 4.0, 5.0])
s = torch.sparse_coo_tensor(i, v, (2, 4))
print(s)
print(s.shape, s.layout, s.is_sparse, s.is_sparse_csr, s.dtype, s.device, s._nnz(), s.sparse_dim(), s.dense_dim(), s.is_coalesced(), s.dim(), s.numel())
print(torch.sparse_coo_tensor(i, v).shape, torch.sparse_coo_tensor([[0, 2]], [1, 2]).coalesce())
print(torch.sparse_coo_tensor(i, torch.ones(3, 2), (2, 4, 2)))
print(torch.sparse_coo_tensor((2, 3)), torch.sparse_coo_tensor(size=(2, 3), dtype=torch.float64)._nnz())
c = s.coalesce()
print(c.is_coalesced(), c.indices(), c.values(), c is c.coalesce())

twice = torch.sparse_coo_tensor([[1, 1, 0], [2, 2, 1]], [1.0, 2.0, 3.0], (2, 3))
print(twice.coalesce())
print(twice.to_dense(), twice._indices().tolist(), twice._values().tolist())
print((twice + twice).coalesce().values(), (twice * 2).to_dense(), (2 * c).values(), (c / 2).values(), (-c).values())
print(s.t(), s.transpose(0, 1).shape, s.clone().is_coalesced(), s.detach().requires_grad)

d = torch.tensor([[0.0, 1.5, 0.0], [2.5, 0.0, -1.0]])
sp = d.to_sparse()
print(sp, sp.is_coalesced())
print(d.to_sparse(1))
print(torch.sparse.mm(sp, torch.ones(3, 2)), sp @ torch.ones(3, 1), torch.mm(sp, torch.eye(3)), torch.matmul(sp, torch.ones(3)))
print(torch.addmm(torch.ones(2, 2), sp, torch.ones(3, 2), beta=0.5, alpha=2), torch.sparse.addmm(torch.ones(2, 2), sp, torch.ones(3, 2)))
print(torch.sparse.sum(sp), torch.sparse.sum(sp, dim=0), torch.sparse.sum(sp, dim=1).to_dense(), sp.sum())
print(d + sp, torch.add(d, sp, alpha=2))
print(sp.index_select(0, torch.tensor([1])).to_dense(), (sp * sp).to_dense(), (sp * d).to_dense(), d.sparse_mask(sp).values())
print(torch.sparse.softmax(sp, 1).to_dense(), torch.sparse.log_softmax(sp, 1).to_dense())
print(sp.to(torch.float64).dtype, sp.double().values(), torch.zeros_like(sp)._nnz(), sp.abs().values(), sp.sqrt().values().shape)

for wrong in (lambda: s.indices(), lambda: s.values(), lambda: torch.sparse_coo_tensor(i, v, (2, 2)), lambda: torch.sparse_coo_tensor(i, torch.ones(2), (2, 4)),
              lambda: torch.sparse_coo_tensor(-i, v, (2, 4)), lambda: torch.sparse_coo_tensor(torch.tensor([0.5]), v), lambda: d.coalesce(), lambda: d._nnz(), lambda: s.stride(),
              lambda: s.storage(), lambda: torch.sparse_coo_tensor(i, v, (2,)), lambda: d.indices(), lambda: s.numpy(), lambda: s.item(), lambda: s[0, 0],
              lambda: torch.sparse.mm(sp, torch.ones(2, 2)), lambda: s.view(-1), lambda: torch.sparse_coo_tensor(i, v, (2, 2), check_invariants=True), lambda: sp.to_sparse(3)):
    try:
        print(wrong())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0][:160])
print(torch.sparse.check_sparse_tensor_invariants.is_enabled())
