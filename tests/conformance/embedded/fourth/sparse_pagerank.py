"""PageRank by power iteration with a sparse COO and a sparse CSR matrix, compared with the dense eigenvector."""
import torch

torch.manual_seed(1)
n = 12
pages = [chr(ord("A") + i) for i in range(n)]

# random links, page 0 is popular
src = torch.randint(0, n, (40,))
dst = torch.cat([torch.zeros(10, dtype=torch.long), torch.randint(0, n, (30,))])
keep = src != dst
edges = torch.stack([dst[keep], src[keep]])
A = torch.sparse_coo_tensor(edges, torch.ones(edges.size(1)), (n, n)).coalesce()
A = torch.sparse_coo_tensor(A.indices(), torch.ones(A._nnz()), (n, n)).coalesce()  # drop multiplicity
print("links:", A._nnz(), "density %.3f" % (A._nnz() / n ** 2))

out_degree = torch.sparse.sum(A, dim=0).to_dense()
dangling = out_degree == 0
print("dangling pages:", [pages[i] for i in dangling.nonzero().flatten().tolist()])

idx = A.indices()
M = torch.sparse_coo_tensor(idx, A.values() / out_degree[idx[1]], (n, n)).coalesce()


def pagerank(M, dangling, d=0.85, tol=1e-7, max_iter=200):
    n = M.shape[0]
    r = torch.full((n, 1), 1 / n)
    for it in range(max_iter):
        lost = r[dangling].sum()
        new = d * (M @ r + lost / n) + (1 - d) / n
        if (new - r).abs().sum() < tol:
            break
        r = new
    return new.squeeze(1)


r_coo = pagerank(M, dangling)
r_csr = pagerank(M.to_sparse_csr(), dangling)
print("sums to %.4f, csr agrees: %s" % (r_coo.sum().item(), torch.allclose(r_coo, r_csr, atol=1e-6)))

dense = M.to_dense()
dense[:, dangling] = 1 / n
G = 0.85 * dense + 0.15 / n
vals, vecs = torch.linalg.eig(G.double())
k = vals.real.argmax()
v = vecs[:, k].real
v = (v / v.sum()).float()
print("largest eigenvalue %.4f, eigenvector agrees: %s" % (vals[k].real.item(), torch.allclose(v, r_coo, atol=1e-4)))

order = r_coo.argsort(descending=True)
for i in order[:5].tolist():
    print(f"{pages[i]}  rank {r_coo[i].item():.4f}  links in {int((idx[0] == i).sum())}")

# gradient through a sparse product
w = torch.rand(n, 1, requires_grad=True)
torch.sparse.mm(M, w).sum().backward()
print("grad is the column sums:", torch.allclose(w.grad.squeeze(1), torch.sparse.sum(M, 0).to_dense(), atol=1e-6))
