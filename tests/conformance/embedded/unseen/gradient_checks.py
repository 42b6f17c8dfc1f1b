"""Numerical against analytic gradients."""
import torch

torch.manual_seed(9)


def f(x):
    return (torch.sin(x) * x ** 2).sum()


x = torch.randn(4, dtype=torch.double, requires_grad=True)
(analytic,) = torch.autograd.grad(f(x), x)
eps = 1e-6
numeric = torch.zeros_like(x)
for i in range(len(x)):
    d = torch.zeros_like(x)
    d[i] = eps
    numeric[i] = (f(x.detach() + d) - f(x.detach() - d)) / (2 * eps)
print(torch.allclose(analytic, numeric, atol=1e-6), (analytic - numeric).abs().max() < 1e-6)
print(torch.autograd.gradcheck(f, (x,)))
