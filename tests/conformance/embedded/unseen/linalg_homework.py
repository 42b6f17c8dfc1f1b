# Linear algebra homework: factorisations checked by reconstruction, solves, conditioning, power method.
import torch

torch.manual_seed(2024)
torch.set_default_dtype(torch.float64)


def ok(name, cond):
    print(f"{name:<28} {'OK' if bool(cond) else 'FAIL'}")


A = torch.randn(5, 5)
S = A @ A.T + 5 * torch.eye(5)
b = torch.randn(5)

# 1. LU
P, L, U = torch.linalg.lu(A)
ok("P L U = A", torch.allclose(P @ L @ U, A))
LU, piv = torch.linalg.lu_factor(A)
ok("lu_solve", torch.allclose(A @ torch.linalg.lu_solve(LU, piv, b[:, None]), b[:, None]))

# 2. QR by Gram-Schmidt versus the library
Q = torch.zeros_like(A)
for j in range(5):
    v = A[:, j].clone()
    for i in range(j):
        v -= torch.dot(Q[:, i], A[:, j]) * Q[:, i]
    Q[:, j] = v / torch.linalg.norm(v)
R = Q.T @ A
q, r = torch.linalg.qr(A)
signs = torch.sign(torch.diagonal(r))
ok("gram-schmidt Q", torch.allclose(Q, q * signs, atol=1e-8))
print("diag of R:", torch.diagonal(R).round(decimals=4))

# 3. Cholesky and triangular solves
C = torch.linalg.cholesky(S)
z = torch.linalg.solve_triangular(C, b[:, None], upper=False)
x = torch.linalg.solve_triangular(C.mT, z, upper=True).squeeze()
ok("cholesky solve", torch.allclose(S @ x, b))
ok("cholesky_inverse", torch.allclose(torch.cholesky_inverse(C), torch.linalg.inv(S)))
print("logdet %.6f vs %.6f" % (torch.logdet(S), 2 * C.diagonal().log().sum()))
sign, logabs = torch.linalg.slogdet(A)
print("det A: %.5f  slogdet: %.5f" % (torch.det(A), sign * logabs.exp()))

# 4. eigenvalues
w, V = torch.linalg.eigh(S)
ok("V diag(w) V^T = S", torch.allclose(V @ torch.diag(w) @ V.T, S))
print("eigenvalues of S:", w)
ev = torch.linalg.eigvals(A)
print("sum of eig = trace: %.6f %.6f" % (ev.sum().real, A.trace()))
u = torch.ones(5)
for _ in range(60):
    u = S @ u
    u = u / u.norm()
print("power method: %.5f  largest: %.5f" % (u @ S @ u, w[-1]))

# 5. SVD, rank, pseudo-inverse, low-rank approximation
M = torch.randn(8, 3) @ torch.randn(3, 6)
Us, sv, Vh = torch.linalg.svd(M, full_matrices=False)
print("singular values:", sv.round(decimals=5).abs())
print("rank:", torch.linalg.matrix_rank(M).item(), "cond S: %.4f" % torch.linalg.cond(S))
M2 = torch.einsum("ik,k,kj->ij", Us[:, :2], sv[:2], Vh[:2])
print("rank-2 error %.5f = s3 %.5f" % (torch.linalg.matrix_norm(M - M2, 2), sv[2]))
ok("M pinv(M) M = M", torch.allclose(M @ torch.linalg.pinv(M) @ M, M))

# 6. functions of matrices and products
K = A - A.T
Rm = torch.linalg.matrix_exp(0.1 * K)
ok("exp of skew is orthogonal", torch.allclose(Rm @ Rm.T, torch.eye(5)))
ok("matrix_power", torch.allclose(torch.linalg.matrix_power(A, 3), A @ A @ A))
ok("kron", torch.allclose(torch.kron(A[:2, :2], S[:2, :2])[2:, :2], A[1, 0] * S[:2, :2]))
print("cross:", torch.linalg.cross(torch.tensor([1., 0, 0]), torch.tensor([0., 1, 0])), "outer:", torch.outer(b[:2], b[:2]).shape)
batch = torch.linalg.solve(torch.stack([S, 2 * S]), torch.stack([b, b]))
print("batched solve ratio:", (batch[0] / batch[1]).round(decimals=6))
try:
    torch.linalg.cholesky(-S)
except torch.linalg.LinAlgError as e:
    print("LinAlgError:", e)
