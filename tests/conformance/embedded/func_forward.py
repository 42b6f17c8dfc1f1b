"""Forward-mode AD: jvp, jacfwd, hessian, Hessian-vector products; dual tensors by hand."""
import torch
import torch.autograd.forward_ad as fw
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.manual_seed(11)
x, t = torch.randn(3), torch.randn(3)
print(jvp(torch.sin, (x,), (t,)), jvp(lambda a: (a.exp() * a).sum(), (x,), (t,)))
print(jvp(lambda a, b: (a * b, a - b.sum()), (x, t), (t, x)))
print(jacfwd(lambda a: a.tanh() * a[0])(x), torch.allclose(jacfwd(lambda a: a.softmax(0))(x), jacrev(lambda a: a.softmax(0))(x)))
f = lambda a: (a.sin() * a).sum()
print([(h + 0.0).tolist() for h in (hessian(f)(x), jacrev(jacfwd(f))(x), jacfwd(jacfwd(f))(x))])
rosenbrock = lambda z: (1 - z[0]) ** 2 + 100 * (z[1] - z[0] ** 2) ** 2
print(hessian(rosenbrock)(torch.tensor([-1.2, 1.0], dtype=torch.float64)))


def hvp(f, x, v):
    return jvp(grad(f), (x,), (v,))[1]


print(hvp(f, x, t), torch.allclose(hvp(f, x, t), hessian(f)(x) @ t, atol=1e-6))
print((vmap(lambda v: hvp(f, x, v))(torch.eye(3)) + 0.0).tolist())
print(vjp(lambda a: jvp(torch.exp, (a,), (t,))[1], x)[1](torch.ones(3)))
with fw.dual_level():
    d = fw.make_dual(x, t)
    out = (d * d).sum() + d.exp().mean()
    primal, tangent = fw.unpack_dual(out)
    print(primal, tangent, fw.unpack_dual(x).tangent, fw.unpack_dual(d.view(3, 1)).tangent)
    y = d.clone()
    y[0] = 2.0
    y.mul_(3)
    print(fw.unpack_dual(y))
print(fw.unpack_dual(d))
w, b = torch.randn(2, 3), torch.randn(2)
print(jvp(lambda w, b: (torch.relu(w @ x + b)).pow(2).sum(), (w, b), (torch.ones(2, 3), torch.ones(2))))
for wrong in (lambda: jvp(torch.sin, x, t), lambda: jvp(torch.sin, (x,), (t, t)), lambda: jvp(lambda a: 1, (x,), (t,)), lambda: jvp(torch.sin, (), ()),
              lambda: jvp(lambda a: torch.ones(3), (x,), (t,), strict=True), lambda: fw.make_dual(x, t), lambda: fw.exit_dual_level(level=3)):
    try:
        wrong()
    except Exception as e:
        print(type(e).__name__, e)
