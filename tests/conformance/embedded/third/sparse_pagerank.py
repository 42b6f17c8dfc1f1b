"""PageRank on a random graph with sparse COO and CSR matrices, checked against the dense result."""
import torch
import warnings

warnings.filterwarnings("ignore")
torch.manual_seed(10)

N, E = 30, 120
src = torch.randint(0, N, (E,))
dst = torch.randint(0, N, (E,))
keep = src != dst
edges = torch.unique(torch.stack([src[keep], dst[keep]]), dim=1)
print("nodes", N, "edges", edges.shape[1])

out_deg = torch.bincount(edges[0], minlength=N).float()
vals = 1.0 / out_deg[edges[0]]
M = torch.sparse_coo_tensor(edges.flip(0), vals, (N, N)).coalesce()
print("nnz", M._nnz(), "layout", M.layout, "density %.3f" % (M._nnz() / N ** 2))

dangling = (out_deg == 0).float()
d = 0.85


def pagerank(matmul, iters=60):
    r = torch.full((N,), 1.0 / N)
    for i in range(iters):
        leak = (r * dangling).sum() / N
        new = d * (matmul(r) + leak) + (1 - d) / N
        if (new - r).abs().sum() < 1e-7:
            break
        r = new
    return r


coo = pagerank(lambda r: torch.sparse.mm(M, r.unsqueeze(1)).squeeze(1))
csr_m = M.to_sparse_csr()
csr = pagerank(lambda r: csr_m @ r)
dense_m = M.to_dense()
dense = pagerank(lambda r: dense_m @ r)

print("sum %.4f" % coo.sum())
print("coo=dense", torch.allclose(coo, dense, atol=1e-6), "csr=dense", torch.allclose(csr, dense, atol=1e-6))
best = coo.topk(5)
for node, score in zip(best.indices.tolist(), best.values.tolist()):
    print(f"node {node:2d} score {score:.4f} in-degree {int((edges[1] == node).sum())}")

# gradient through a sparse-dense product
W = torch.randn(N, 4, requires_grad=True)
loss = torch.sparse.mm(M, W).pow(2).sum()
loss.backward()
print("loss %.3f grad norm %.3f" % (loss.item(), W.grad.norm().item()))
print("crow tail", csr_m.crow_indices()[-3:].tolist())
