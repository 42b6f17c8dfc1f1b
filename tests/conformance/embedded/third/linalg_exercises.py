"""Linear algebra exercises: solve, QR, SVD, eigenvalues, least squares, Cholesky and matrix powers."""
import torch

torch.manual_seed(1)
torch.set_printoptions(precision=4, sci_mode=False)
A = torch.randn(4, 4, dtype=torch.float64)
S = A @ A.T + 4 * torch.eye(4, dtype=torch.float64)
b = torch.randn(4, dtype=torch.float64)

x = torch.linalg.solve(A, b)
print("1. residual small:", bool((A @ x - b).norm() < 1e-10), "det %.4f" % torch.linalg.det(A))

Q, R = torch.linalg.qr(A)
print("2. Q orthogonal:", torch.allclose(Q.T @ Q, torch.eye(4, dtype=torch.float64)),
      "| diag R abs", [f"{v:.4f}" for v in R.diagonal().abs()])

U, s, Vh = torch.linalg.svd(A)
print("3. singular values", s)
print("   rank-2 error %.4f equals sqrt(s3^2+s4^2) %.4f"
      % ((A - U[:, :2] @ torch.diag(s[:2]) @ Vh[:2]).norm(), s[2:].norm()))

w = torch.linalg.eigvalsh(S)
print("4. eigenvalues of S", w, "trace ok:", torch.isclose(w.sum(), S.trace()).item())

L = torch.linalg.cholesky(S)
print("5. cholesky ok:", torch.allclose(L @ L.mT, S), "logdet %.4f %.4f"
      % (2 * L.diagonal().log().sum(), torch.logdet(S)))
print("   cholesky_solve ok:", torch.allclose(torch.cholesky_solve(b[:, None], L).squeeze(), torch.linalg.inv(S) @ b))

T = torch.linspace(0, 1, 20, dtype=torch.float64)
V = torch.vander(T, 3, increasing=True)
y = 1 + 2 * T - 3 * T ** 2
print("6. polynomial fit", torch.linalg.lstsq(V, y[:, None]).solution.squeeze())

F = torch.tensor([[1, 1], [1, 0]])
print("7. fibonacci(20) =", torch.linalg.matrix_power(F, 19)[0, 0].item())

P = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
pi = torch.linalg.matrix_power(P, 100)[0]
print("8. stationary distribution", pi, "sum %.4f" % pi.sum())

# power iteration with a Rayleigh quotient
v = torch.ones(4, dtype=torch.float64)
for _ in range(200):
    v = S @ v
    v = v / v.norm()
print("9. power iteration %.4f vs eigvalsh %.4f" % (v @ S @ v, w[-1]))

rot = torch.linalg.matrix_exp(torch.tensor([[0.0, -1.0], [1.0, 0.0]]) * (torch.pi / 3))
print("10. rotation by 60 degrees", rot)
print("norms: fro %.4f nuc %.4f spec %.4f cond %.4f" % (
    torch.linalg.norm(A), torch.linalg.norm(A, "nuc"), torch.linalg.norm(A, 2), torch.linalg.cond(S)))
