"""The gated linear unit, forward and backward."""
import torch
from torch import nn

x = torch.linspace(-2, 2, 8).view(2, 4).requires_grad_()
y = nn.GLU()(x)
y.pow(2).sum().backward()
print(y, x.grad, nn.functional.glu(x, dim=0).shape)
