"""Every activation, as a layer, forward and backward."""
import torch
from torch import nn

torch.manual_seed(16)
x = torch.linspace(-3, 3, 8, requires_grad=True)
for layer in (nn.ReLU(), nn.LeakyReLU(0.2), nn.ELU(), nn.SELU(), nn.CELU(0.5), nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Mish(), nn.Hardswish(), nn.Hardsigmoid(), nn.Hardtanh(),
              nn.ReLU6(), nn.Sigmoid(), nn.LogSigmoid(), nn.Tanh(), nn.Softplus(), nn.Softsign(), nn.Tanhshrink(), nn.Softshrink(), nn.Hardshrink(), nn.Threshold(0.5, 9.0), nn.PReLU(),
              nn.Softmax(dim=0), nn.LogSoftmax(dim=0), nn.Softmin(dim=0)):
    x.grad = None
    y = layer(x)
    y.sum().backward()
    print(layer, y.sum().item(), x.grad.norm().item())
