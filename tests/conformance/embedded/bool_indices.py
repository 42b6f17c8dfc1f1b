"""A bool as an index, by itself and among others; drawing with a tensor of means or of spreads."""
import torch

x = torch.arange(6.0).view(2, 3).requires_grad_()
yes, no = torch.tensor(True), torch.tensor(False)
for picked in (x[True], x[False], x[yes], x[None, no], x[False, 1], x[..., True], x[yes, 1:, [0]]):
    print(picked.shape)
(x[yes, 1].sum() + x[True].pow(2).sum()).backward()
print(x.grad)
y = x.detach().clone()
y[no] = torch.zeros(0, 2, 3)
y[yes, 0] = 9
print(y)
y[True] = 4
y[False] = 5
print(y)

torch.manual_seed(11)
means, spreads = torch.linspace(0, 3, 4), torch.tensor([[0.1], [2.0]])
print(torch.normal(means, spreads))
print(torch.normal(0.5, spreads), torch.normal(means), torch.normal(means, 0.1), torch.normal(mean=1.0, std=2.0, size=(2, 2)))
try:
    torch.normal(means, -spreads)
except RuntimeError as e:
    print(e)
