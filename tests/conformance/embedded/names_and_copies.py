# Names that are there, lacking or unknown; tensors made of tensors; layers that learn their sizes or are told them.
import warnings

import torch
import torch.nn as nn
from torch.functional import einsum

warnings.simplefilter("ignore")
torch.manual_seed(3)


def told(ask):
    try:
        print(ask())
    except (AttributeError, RuntimeError, ValueError, TypeError) as e:
        print(type(e).__name__, e)


told(lambda: torch.nonexistent)
told(lambda: torch.ones(2).nonexistent)
told(lambda: nn.Nonexistent)
told(lambda: nn.functional.nonexistent)
told(lambda: torch.optim.Nonexistent)
told(lambda: torch.linalg.nonexistent)
told(lambda: nn.Parameter(torch.ones(1)).nonexistent)
told(lambda: torch.accelerator.current_accelerator())
told(lambda: torch.accelerator.synchronize())
told(lambda: [m.is_available() for m in (torch.accelerator, torch.cpu, torch.mps, torch.xpu)])
told(lambda: torch.sym_max(1, 2.5))
try:
    from torch import nonexistent
except ImportError as e:
    print(str(e).split(" (")[0])
try:
    import torch.nonexistent
except ImportError as e:
    print(e)

a = torch.arange(6.0).reshape(2, 3)
for made in (torch.as_tensor(a), torch.as_tensor(a, dtype=torch.double), torch.asarray(a), torch.asarray(a, dtype=torch.int32), torch.tensor(a), torch.tensor(a, dtype=torch.long),
             a.new_tensor(a)):
    print(made.dtype, made.data_ptr() == a.data_ptr())
print(einsum("ij,ij->i", a, a))
print(torch.unravel_index(a.argmax(), a.shape), torch.unravel_index(torch.tensor([3, 5]), (2, 4)))
told(lambda: torch.unravel_index(a, (2, 4)))
k = torch.tensor([5, 3, 9, 3])
print(k | 1, 1 | k, k ^ 2, 2 ^ k, k.argsort(stable=True), torch.argsort(k, stable=True, descending=True))
k |= 4
k ^= 1
k &= 6
print(k)

x = torch.randn(2, 3, 5)
print(nn.ConvTranspose1d(3, 2, 3, stride=2, padding=1, output_padding=1))
told(lambda: nn.ConvTranspose1d(3, 2, 3, stride=2)(x, output_size=[30]))
told(lambda: nn.ConvTranspose1d(3, 2, 3, padding_mode="reflect"))
grow = nn.LazyConvTranspose1d(4, 3, stride=2)
grow.initialize_parameters(x)
lazy = nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyInstanceNorm1d(affine=True), nn.ReLU())
lazy(x).sum().backward()
print(grow, grow.weight.shape, lazy, [tuple(p.grad.shape) for p in lazy.parameters()])
print(nn.functional.leaky_relu_(torch.tensor([-1.0, 2.0])), nn.functional.elu_(torch.tensor([-1.0, 2.0])))

# numbers with an imaginary part among real tensors
k, z = torch.arange(3.0), torch.tensor([1 + 2j, 3 - 1j])
print(1j * k, k.double() * 1j, k + 1j, 1j - z, z / 1j, z.prod(), torch.full((2,), 1j))
z[0] = 5j
print(z.mul_(1j), z.abs(), z.real, z == -5)
