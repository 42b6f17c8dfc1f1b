"""grad, grad_and_value and vjp: nested, with aux, of several arguments, under no_grad, of views and of what is written in place."""
import torch
from torch.func import grad, grad_and_value, vjp

torch.manual_seed(1)
x, y = torch.randn(3), torch.randn(3)
print(grad(lambda a: (a.sin() * a).sum())(x))
print(grad(grad(lambda s: s.exp() * s))(torch.tensor(0.5)))
print(grad(grad(grad(lambda s: s ** 4)))(torch.tensor(2.0)))
print(grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, y))
print(grad_and_value(lambda a: a.pow(2).sum())(x))
gradient, aux = grad(lambda a: ((a * 2).sum(), a * 3), has_aux=True)(x)
print(gradient, aux)


def in_place(a):
    b = a.clone()
    b[0] = 7.0
    b.mul_(2)
    b[1:].add_(a[1:])
    return (b * a).sum()


print(grad(in_place)(x))
print(grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": x, "b": (y,)}))
with torch.no_grad():
    print(grad(lambda a: (a * a).sum())(x))


def inner_no_grad(a):
    with torch.no_grad():
        c = a ** 2
    return (a - c).sum()


print(grad(inner_no_grad)(x))
out, pull = vjp(lambda a: (a.exp(), a.sum()), x)
print(out, pull((torch.ones(3), torch.tensor(2.0))))
print(grad(lambda a: torch.tensor(1.0))(x))
w = torch.randn(3, requires_grad=True)
g = grad(lambda a: (a * a * w).sum())(x)
g.sum().backward()
print(g, w.grad)
captured = torch.zeros(3)
for wrong in (lambda: grad(lambda a: a)(x), lambda: grad(lambda a: (captured.add_(a), a.sum())[1])(x), lambda: grad(lambda a: a.sum(), argnums=2)(x),
              lambda: grad(lambda a: 1.0)(x), lambda: vjp(lambda a: a.long(), x), lambda: grad(lambda a: a.requires_grad_().sum())(x),
              lambda: grad(lambda a: (a.sum(),), has_aux=True)(x), lambda: pull(torch.ones(3))):
    try:
        wrong()
    except Exception as e:
        print(type(e).__name__, e)
