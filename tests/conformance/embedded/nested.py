"""Nested tensors: made of lists, asked about, printed, padded, taken apart, computed with, and their gradients; and what is wrong with some."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
a, b = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3) / 3
n = torch.nested.nested_tensor([a, b])
print(n)
print(n.is_nested, n.dim(), n.size(0), n.size(2), n.size(-1), n.numel(), n.dtype, n.layout, n.device, n.is_contiguous(), n.requires_grad, n.is_leaf)
print(torch.nested.to_padded_tensor(n, 0.0), n.to_padded_tensor(-1.0, (2, 5, 3)))
for part in n.unbind():
    print(part.shape, part.sum())
print(n[0], n[-1].shape)
print(torch.nested.nested_tensor([[1, 2], [3]]), torch.nested.nested_tensor([a, b], dtype=torch.float64)[1].dtype)

linear = nn.Linear(3, 4)
y = linear(n)
print(y.size(2), y.grad_fn.name())
print(torch.relu(n - 1.0), (n * 2 + n).to_padded_tensor(0.0).sum(), nn.functional.gelu(n)[0])
w = torch.softmax(y, -1)
print(w.to_padded_tensor(0.0).sum(-1))
scores = torch.matmul(n, n.transpose(1, 2))
print(scores)
print(torch.bmm(n, n.transpose(1, 2).contiguous())[0])
norm = nn.LayerNorm(3)
print(norm(n).to_padded_tensor(0.0))
y.to_padded_tensor(0.0).pow(2).sum().backward()
print(linear.weight.grad, linear.bias.grad)

x = torch.nested.nested_tensor([a, b], requires_grad=True)
(x * x).to_padded_tensor(0.0).sum().backward()
print(x.grad)
first, second = a.clone().requires_grad_(), b.clone().requires_grad_()
torch.nested.as_nested_tensor([first, second]).softmax(-1).to_padded_tensor(0.0)[:, :, 0].sum().backward()
print(first.grad, second.grad)
print(n.sum(-1, keepdim=True), n.clone().add_(1.0)[0], n.double().dtype, n.detach().requires_grad)
for wrong in (lambda: n.shape, lambda: n.size(1), lambda: n.stride(), lambda: n.sum(-1), lambda: n @ n, lambda: n + a, lambda: n.transpose(0, 1), lambda: torch.softmax(n, 0),
              lambda: n.view(-1, 3), lambda: n[2], lambda: torch.nested.nested_tensor([a, b[0]]), lambda: torch.nested.nested_tensor(3), lambda: n.transpose(1, 2).to_padded_tensor(0.0),
              lambda: nn.Linear(4, 2)(n), lambda: n.unbind(1), lambda: n.to_padded_tensor(0.0, (2, 2, 3))):
    try:
        print(wrong())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0][:160])
