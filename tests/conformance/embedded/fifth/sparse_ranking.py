"""Ranks the articles of a toy wiki with sparse matrices: PageRank, hubs and authorities, and a personalised variant."""
import torch

torch.manual_seed(25)
torch.set_default_dtype(torch.float64)

links = {
    "cheese": ["milk", "cow", "france"],
    "milk": ["cow", "goat"],
    "cow": ["milk", "grass"],
    "goat": ["milk", "grass", "mountain"],
    "grass": [],
    "france": ["cheese", "wine", "mountain"],
    "wine": ["grape", "france"],
    "grape": ["wine"],
    "mountain": ["goat"],
}
names = list(links)
where = {n: i for i, n in enumerate(names)}
n = len(names)

src = torch.tensor([where[a] for a in names for _ in links[a]])
dst = torch.tensor([where[b] for a in names for b in links[a]])
A = torch.sparse_coo_tensor(torch.stack([src, dst]), torch.ones(len(src)), (n, n)).coalesce()
print("edges:", A._nnz(), " density: %.3f" % (A._nnz() / n ** 2), " layout:", A.layout)

out_degree = torch.sparse.sum(A, dim=1).to_dense()
dangling = out_degree == 0
print("articles without links:", [names[i] for i in dangling.nonzero().flatten()])

# column-stochastic transition matrix, in CSR for the products
weight = 1 / out_degree[A.indices()[0]]
P = torch.sparse_coo_tensor(A.indices().flip(0), weight, (n, n)).coalesce().to_sparse_csr()
print("row pointers:", P.crow_indices().tolist())


def pagerank(jump, d=0.85, tol=1e-10):
    r = torch.full((n,), 1 / n)
    for it in range(500):
        new = d * (P @ r + r[dangling].sum() * jump) + (1 - d) * jump
        if (new - r).abs().sum() < tol:
            return new, it
        r = new
    raise RuntimeError("did not converge")


def show(title, r, k=4):
    value, idx = r.topk(k)
    print(f"{title:22s}", ", ".join(f"{names[i]} {v:.4f}" for v, i in zip(value.tolist(), idx.tolist())))


uniform = torch.full((n,), 1 / n)
rank, its = pagerank(uniform)
show("pagerank", rank)
print("sum %.4f, converged: %s" % (rank.sum(), its < 200))

# the same by solving the dense linear system
M = P.to_dense() + torch.outer(uniform, dangling.double())
exact = torch.linalg.solve(torch.eye(n) - 0.85 * M, 0.15 * uniform)
print("agrees with dense solve:", torch.allclose(rank, exact, atol=1e-8))

jump = torch.zeros(n)
jump[where["wine"]] = 1
show("reader starts at wine", pagerank(jump)[0])

# HITS
At = A.t().coalesce()
hub = torch.ones(n)
for _ in range(100):
    auth = torch.sparse.mm(At, hub[:, None])[:, 0]
    auth = auth / auth.norm()
    hub = torch.mv(A, auth)
    hub = hub / hub.norm()
show("authorities", auth, 3)
show("hubs", hub, 3)
u, s, vh = torch.linalg.svd(A.to_dense())
print("largest singular value %.4f = %.4f" % (s[0], torch.mv(A, auth).norm()))

# two clicks away, without the diagonal
A2 = torch.sparse.mm(A, A).coalesce()
i, j = A2.indices()
keep = i != j
print("pairs two clicks apart:", int(keep.sum()), " most paths:", int(A2.values()[keep].max()))

# gradient of a rank score with respect to the strength of the links
w = torch.ones(A._nnz(), requires_grad=True)
S = torch.sparse_coo_tensor(A.indices(), w, (n, n))
score = torch.sparse.mm(S.t(), torch.sparse.mm(S.t(), rank[:, None]))[where["milk"], 0]
score.backward()
best = w.grad.argmax()
print("link that helps milk most: %s -> %s (%.4f)" % (names[src[A.indices()[0][best] == src][0]], names[A.indices()[1][best]], w.grad.max()))
