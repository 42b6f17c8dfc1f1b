"""A saved tensor is changed in place: once PyTorch notices, once the gradient is silently wrong. Who wrote that storage?"""
import torch

x = torch.ones(1, requires_grad=True)
y = x.exp()
y.add_(1)
try:
    y.backward()
except RuntimeError as e:
    print(str(e).split(":")[0])
y = x.exp()
y.data.add_(100)
y.backward()
print(x.grad.item())
