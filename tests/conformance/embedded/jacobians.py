"""Derivatives of functions: gradients, Jacobians, Hessians, products with vectors, higher orders."""
import torch
from torch.autograd import grad
from torch.autograd.functional import hessian, jacobian, jvp, vjp

x = torch.tensor([1.0, 2.0, 3.0])
print(jacobian(lambda t: t ** 2 + t.sum(), x))
print(hessian(lambda t: (t ** 3).sum(), x))
print(vjp(lambda t: t.exp(), x, torch.ones(3)), jvp(lambda t: t.sin(), x, torch.tensor([1.0, 0.0, 0.0])))
a, b = torch.ones(2), torch.tensor([2.0, 3.0])
print(jacobian(lambda s, t: s * t, (a, b)))
w = torch.tensor(2.0, requires_grad=True)
y = w ** 4
first, = grad(y, w, create_graph=True)
second, = grad(first, w, create_graph=True)
third, = grad(second, w)
print(first.item(), second.item(), third.item())
u, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
print(grad((u * 2).sum(), [u, v], allow_unused=True), grad(u * v, u, grad_outputs=torch.tensor([1.0, 3.0])))
