"""Jacobians, Hessians, and Newton's method on the Rosenbrock function with torch.autograd.functional and torch.func."""
import torch
from torch.autograd.functional import hessian, jacobian
from torch.func import hessian as fhessian, jacrev, jacfwd, jvp, vjp

torch.manual_seed(2)
torch.set_default_dtype(torch.float64)


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def polar_to_xy(v):
    r, th = v
    return torch.stack([r * torch.cos(th), r * torch.sin(th)])


v = torch.tensor([2.0, 0.5])
J = jacobian(polar_to_xy, v)
print("jacobian\n", J)
print("determinant (should be r): %.4f" % torch.det(J))
print("jacrev = jacfwd:", torch.allclose(jacrev(polar_to_xy)(v), jacfwd(polar_to_xy)(v)))

p = torch.tensor([-1.2, 1.0])
H = hessian(rosenbrock, p)
print("hessian", H.tolist())
print("same from torch.func:", torch.allclose(H, fhessian(rosenbrock)(p)))
print("eigenvalues", ["%.3f" % e for e in torch.linalg.eigvalsh(H)])

# Newton
x = p.clone()
for i in range(8):
    x.requires_grad_(True)
    f = rosenbrock(x)
    (g,) = torch.autograd.grad(f, x)
    H = hessian(rosenbrock, x.detach())
    step = torch.linalg.solve(H, g)
    x = (x - step).detach()
    print(f"newton {i}: f = {f.item():.6f}  x = ({x[0].item():.5f}, {x[1].item():.5f})")

out, tangent = jvp(polar_to_xy, (v,), (torch.tensor([1.0, 0.0]),))
print("jvp", ["%.4f" % t for t in tangent])
out, pull = vjp(polar_to_xy, v)
print("vjp", ["%.4f" % t for t in pull(torch.ones(2))[0]])

# Hessian-vector product by double backward
x = torch.randn(5, requires_grad=True)
vec = torch.randn(5)
f = (x ** 4).sum() + x.prod()
(g,) = torch.autograd.grad(f, x, create_graph=True)
(hv,) = torch.autograd.grad(g @ vec, x)
full = hessian(lambda z: (z ** 4).sum() + z.prod(), x.detach())
print("hvp ok:", torch.allclose(hv, full @ vec))
