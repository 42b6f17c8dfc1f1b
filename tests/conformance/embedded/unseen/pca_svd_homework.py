# Homework: PCA three ways (covariance eigh, SVD, power iteration), then least squares three ways.
import torch

torch.set_printoptions(precision=4, sci_mode=False)
torch.manual_seed(42)

# correlated data
A = torch.randn(5, 5, dtype=torch.float64)
X = torch.randn(60, 5, dtype=torch.float64) @ A + torch.tensor([1., 2., 3., 4., 5.])
mean = X.mean(dim=0)
Xc = X - mean
n = X.size(0)

# (a) eigen decomposition of the covariance
C = Xc.T @ Xc / (n - 1)
print("cov == torch.cov:", torch.allclose(C, torch.cov(X.T)))
evals, evecs = torch.linalg.eigh(C)
evals, evecs = evals.flip(0), evecs.flip(1)
print("eigenvalues:", evals)
print("explained:", (evals / evals.sum()).cumsum(0))

# (b) SVD
U, S, Vh = torch.linalg.svd(Xc, full_matrices=False)
print("svd gives:  ", S.pow(2) / (n - 1))
cos = (Vh * evecs.T).sum(dim=1).abs()
print("|cos| between the components:", cos)

# (c) power iteration with deflation
D = C.clone()
for k in range(2):
    v = torch.ones(5, dtype=torch.float64)
    for _ in range(60):
        v = D @ v
        v /= v.norm()
    lam = v @ D @ v
    print(f"power iteration {k}: lambda = {lam.item():.4f}, aligned = {(v @ evecs[:, k]).abs().item():.4f}")
    D -= lam * torch.outer(v, v)

# reconstruction error by number of components
for k in range(1, 6):
    Xk = U[:, :k] * S[:k] @ Vh[:k] + mean
    print(k, f"{torch.linalg.norm(X - Xk).item():.4f}", f"{S[k:].square().sum().sqrt().item():.4f}")

# least squares: normal equations, QR, lstsq
w_true = torch.tensor([0.5, -1.0, 2.0, 0.0, 3.0], dtype=torch.float64)
y = Xc @ w_true + 0.1 * torch.randn(n, dtype=torch.float64)
L = torch.linalg.cholesky(Xc.mT @ Xc)
w1 = torch.cholesky_solve((Xc.mT @ y).unsqueeze(1), L).squeeze(1)
Q, R = torch.linalg.qr(Xc)
w2 = torch.linalg.solve_triangular(R, (Q.mT @ y)[:, None], upper=True)[:, 0]
w3 = torch.linalg.lstsq(Xc, y.unsqueeze(-1)).solution.flatten()
print(w1, w2, w3, sep="\n")
print("all close:", torch.allclose(w1, w2) and torch.allclose(w2, w3))
print(f"cond {torch.linalg.cond(Xc).item():.4f} rank {torch.linalg.matrix_rank(Xc).item()} "
      f"det {torch.linalg.det(C).item():.4f} logdet {torch.logdet(C).item():.4f}")
print("pinv:", torch.allclose(torch.linalg.pinv(Xc) @ y, w3), "trace:", torch.trace(C))
