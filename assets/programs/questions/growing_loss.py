"""Memory grows with every step although the loss is one number. What keeps it?"""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1))
total = 0
for step in range(5):
    loss = net(torch.randn(32, 64)).square().mean()
    total = total + loss  # the graph of every step lives on in the sum
print(total.grad_fn.name())
