"""Backward through graphs: shared nodes, gradients added up, retained graphs, second use of a leaf, views written in place."""
import torch

torch.manual_seed(2)
w = torch.randn(3, 3, requires_grad=True)
x = torch.randn(2, 3)
h = x @ w
loss = (h * h).sum() + h.exp().mean()
loss.backward(retain_graph=True)
print(w.grad.sum().item())
loss.backward()
print(w.grad.sum().item(), h.grad_fn.name(), loss.grad_fn.next_functions[0][0].name(), w.grad_fn)
w.grad = None
base = w * 2
part = base[0]
part.mul_(3)
print(base.grad_fn.name(), part.grad_fn.name())
base.sum().backward()
print(w.grad.tolist())
w.grad = None
y = torch.ones(3, requires_grad=True)
(y * torch.tensor([1.0, 2.0, 3.0])).backward(torch.tensor([1.0, 0.5, 2.0]))
print(y.grad.tolist(), y.is_leaf, (y + 1).is_leaf, (y + 1).detach().requires_grad)
v = torch.ones(2, 1, requires_grad=True)
(v.expand(2, 4) * torch.ones(4)).sum().backward()
print(v.grad.tolist())
