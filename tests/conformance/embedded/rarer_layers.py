"""Layers and operators that are rarer: two inputs, random slopes, rows held to a norm, slices reduced by index, special functions."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
bilinear = nn.Bilinear(3, 4, 5)
left, right = torch.randn(2, 3), torch.randn(2, 4)
print(bilinear, bilinear(left, right).tanh())

x = torch.randn(2, 4, requires_grad=True)
slopes = nn.RReLU()
slopes(x).sum().backward()
print(x.grad)
print(slopes.eval()(x), F.rrelu(x.detach().clone(), inplace=True))

rows = nn.Embedding(5, 3, max_norm=1.0)
rows(torch.tensor([[0, 3], [3, 1]])).sum().backward()
print(rows.weight.norm(dim=1), rows.weight.grad)

table = torch.ones(3, 2, requires_grad=True)
source = torch.randn(4, 2, requires_grad=True)
where = torch.tensor([0, 2, 0, 2])
for how in ("prod", "mean", "amax", "amin"):
    out = table.index_reduce(0, where, source, how)
    print(how, out, torch.autograd.grad(out.sum(), [table, source]))

numbers = torch.tensor([0.5, 1.5, 3.0])
print(torch.frexp(numbers), torch.ldexp(numbers, torch.tensor([1, 2, 3])))
print(torch.igamma(numbers, numbers + 1), torch.igammac(numbers, numbers), torch.mvlgamma(numbers + 1, 2), torch.special.multigammaln(numbers + 2, 3))
for name in ("i0e", "i1", "i1e", "erfcx", "bessel_j0", "bessel_y1", "modified_bessel_k0", "spherical_bessel_j0"):
    print(name, getattr(torch.special, name)(numbers))
print(torch.special.zeta(numbers + 1, 2.0), torch.special.ndtri(torch.tensor([0.1, 0.5, 0.9])))
print(torch.kaiser_window(5), torch.kaiser_window(4, False, 8.0))
print(torch.binomial(torch.tensor([5.0, 50.0]), torch.tensor([0.3, 0.6])))

volume = torch.rand(1, 1, 2, 4, 4, requires_grad=True)
pooled = nn.LPPool3d(2, 2)
print(pooled, pooled(volume), torch.autograd.grad(pooled(volume).sum(), volume))
print(F.lp_pool3d(volume.detach(), 3.0, (1, 2, 2), stride=(1, 2, 1)))
