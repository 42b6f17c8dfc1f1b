"""`x` was made with requires_grad. Why is x.grad None after backward?"""
import torch

x = torch.tensor([0.25, 0.75], requires_grad=True).view(2, 1)
(x * 3).sum().backward()
print(x.is_leaf)
