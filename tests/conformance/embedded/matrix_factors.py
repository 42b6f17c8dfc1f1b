"""Matrices by their factors: LU, Cholesky, reflectors, eigenvalues, and systems solved with them."""
import torch

torch.manual_seed(21)
a = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
b = torch.randn(4, 2, dtype=torch.float64)
P, L, U = torch.linalg.lu(a)
(L.square().sum() + U.sum()).backward()
print(torch.dist(P @ L @ U, a).item() < 1e-12, a.grad)
factors, pivots = torch.linalg.lu_factor(a)
x = torch.linalg.lu_solve(factors, pivots, b)
a.grad = None
x.sum().backward()
print(x, a.grad, pivots, torch.lu_unpack(factors.detach(), pivots)[0].argmax(1))
spd = (a @ a.mT).detach() + torch.eye(4, dtype=torch.float64)
print(torch.cholesky_inverse(torch.linalg.cholesky(spd)), torch.linalg.matrix_rank(a.detach(), atol=1.5, rtol=0.0), torch.linalg.matrix_rank(spd, rtol=0.5))
turn = torch.tensor([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
print([round(v, 4) for v in torch.linalg.eigvals(turn).abs().tolist()], torch.linalg.eigvals(spd).real)
values, vectors = torch.linalg.eig(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
print(values, vectors.real.abs())
h, tau = torch.geqrf(b)
print(torch.linalg.householder_product(h, tau), torch.vander(torch.tensor([1, 2, 3])), torch.linalg.vander(torch.tensor([1.0, 2.0]), N=4))
try:
    torch.linalg.lu_factor(torch.zeros(2, 2))
except RuntimeError as e:
    print(e)
