"""Jacobians, Hessians and Newton's method with torch.func on the Rosenbrock function and logistic regression."""
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


x = torch.tensor([-1.2, 1.0])
print("f %.4f" % rosenbrock(x).item())
print("grad", [round(v, 3) for v in grad(rosenbrock)(x).tolist()])
print("hessian", hessian(rosenbrock)(x).round(decimals=3).tolist())

for it in range(8):
    g, H = grad(rosenbrock)(x), hessian(rosenbrock)(x)
    step = torch.linalg.solve(H, g)
    t = 1.0
    while rosenbrock(x - t * step) > rosenbrock(x) - 1e-4 * t * (g @ step) and t > 1e-3:
        t *= 0.5
    x = x - t * step
    print("newton %d: f %.4f step %.3f" % (it, rosenbrock(x).item(), t))


def polar(p):
    r, a = p[..., 0], p[..., 1]
    return torch.stack([r * torch.cos(a), r * torch.sin(a)], dim=-1)


p = torch.tensor([2.0, 0.5])
Jf, Jr = jacfwd(polar)(p), jacrev(polar)(p)
print("jacobian determinant %.4f (should be r)" % torch.det(Jf).item(), torch.allclose(Jf, Jr))
v = torch.tensor([1.0, -1.0])
_, tangent = jvp(polar, (p,), (v,))
_, pullback = vjp(polar, p)
print("jvp", torch.allclose(tangent, Jf @ v), "vjp", torch.allclose(pullback(v)[0], v @ Jr))
many = torch.rand(4, 2) + 0.5
dets = torch.linalg.det(vmap(jacrev(polar))(many))
print("batched determinants ok:", torch.allclose(dets, many[:, 0]))

# Newton (IRLS) for logistic regression
X = torch.cat([torch.randn(80, 2), torch.ones(80, 1)], 1)
y = (torch.rand(80) < torch.sigmoid(X @ torch.tensor([1.5, -2.0, 0.3]))).double()


def nll(w):
    z = X @ w
    return (torch.nn.functional.softplus(z) - y * z).mean() + 1e-3 * w.square().sum()


w = torch.zeros(3)
for it in range(6):
    w = w - torch.linalg.solve(hessian(nll)(w), grad(nll)(w))
print("logistic weights", ["%.3f" % a for a in w.tolist()], "nll %.4f" % nll(w).item())
print("gradient is zero:", grad(nll)(w).norm().item() < 1e-8)
