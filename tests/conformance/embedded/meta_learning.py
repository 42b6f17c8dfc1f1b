"""Gradients through an update: a step inside a step, a gradient penalty."""
import torch

torch.manual_seed(27)
w = torch.randn(3, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5)
inner = ((x @ w - y) ** 2).mean()
(g,) = torch.autograd.grad(inner, w, create_graph=True)
fast = w - 0.1 * g
outer = ((x @ fast - y) ** 2).mean()
outer.backward()
print(inner.item(), outer.item(), w.grad)
critic = torch.nn.Linear(3, 1)
mixed = x.clone().requires_grad_(True)
(grads,) = torch.autograd.grad(critic(mixed).tanh().sum(), mixed, create_graph=True)
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
print(penalty.item(), critic.weight.grad)
