"""Autocast keeps casts of weights. One is made under no_grad: does the second forward, with grad, get a gradient for the weight?"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
x = torch.randn(2, 4)
with torch.autocast("cpu", torch.bfloat16):
    with torch.no_grad():
        net(x)
    y = net(x)
y.sum().backward()
print(y.grad_fn.name(), net.weight.grad is not None)
