"""Sparse layouts: COO and CSR products, coalescing, gradients through a sparse matrix, an embedding with sparse gradients."""
import warnings

import torch

warnings.filterwarnings("ignore")            # sparse CSR says that it is in beta
torch.manual_seed(8)
index = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
coo = torch.sparse_coo_tensor(index, torch.tensor([1.0, 2.0, 3.0, 4.0]), (2, 3)).requires_grad_()
dense = torch.randn(3, 2, requires_grad=True)
out = torch.sparse.mm(coo, dense)
out.sum().backward()
print(coo.detach().coalesce().values().tolist(), out.tolist(), coo.grad.to_dense().tolist(), dense.grad.tolist())
csr = coo.detach().to_dense().to_sparse_csr()
print((csr @ dense.detach()).tolist(), csr.crow_indices().tolist(), (coo.detach() + coo.detach()).to_dense().tolist())

table = torch.nn.Embedding(5, 2, sparse=True)
optimizer = torch.optim.SGD(table.parameters(), lr=0.5)
table(torch.tensor([1, 1, 4])).pow(2).sum().backward()
print(table.weight.grad.is_sparse, table.weight.grad.coalesce().indices().tolist())
optimizer.step()
print(table.weight.tolist())
