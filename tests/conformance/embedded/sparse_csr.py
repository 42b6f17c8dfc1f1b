"""Compressed sparse rows: made, looked at, printed, multiplied, and back."""
import warnings

import torch

warnings.filterwarnings("ignore")
crow = torch.tensor([0, 2, 2, 3])
col = torch.tensor([0, 3, 1])
m = torch.sparse_csr_tensor(crow, col, torch.tensor([1.0, 2.0, 3.0]), (3, 4))
print(m)
print(m.layout, m.shape, m._nnz(), m.is_sparse, m.is_sparse_csr, m.crow_indices(), m.col_indices(), m.values(), m.sparse_dim(), m.dense_dim())
print(m.to_dense())
print(torch.sparse_csr_tensor([0, 1, 2], [0, 1], [5, 6]))
x = torch.arange(8.0).reshape(4, 2)
print(m @ x, m @ torch.ones(4), torch.mv(m, torch.ones(4)), torch.mm(m, x), torch.sparse.mm(m, x), m.matmul(x))
print(torch.addmm(torch.ones(3, 2), m, x, beta=2))
d = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
print(d.to_sparse_csr(), d.to_sparse().to_sparse_csr().crow_indices(), m.to_sparse().indices())
print(m.to_sparse_coo(), m.clone().values(), m.detach().layout)
print((m * 2).values(), (m + m).to_dense(), m.t().layout)
for wrong in (lambda: d.crow_indices(), lambda: m.indices(), lambda: m @ torch.ones(3)):
    try:
        print(wrong())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0][:160])
