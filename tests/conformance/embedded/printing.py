"""Tensors as text."""
import torch

torch.manual_seed(5)
print(torch.tensor([1.0, 2.0, 3.0]))
print(torch.tensor([1, 20, 300]), torch.tensor(3), torch.tensor(2.5), torch.tensor([True, False]))
print(torch.tensor([[1.5, -2.25], [1000.0, 0.001]]))
print(torch.tensor([1e-8, 1.0]), torch.tensor([1e10, 1.0]), torch.tensor([0.0, 0.0]), torch.tensor([1.0, float("nan"), float("inf")]))
print(torch.randn(3, 4))
print(torch.randn(2, 2, 2))
print(torch.zeros(3, dtype=torch.float64), torch.ones(2, dtype=torch.int32), torch.empty(0), torch.empty(2, 0))
print(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True) * 2)
print(torch.zeros(30, 40))
print(torch.nn.Parameter(torch.ones(2)))
print(torch.tensor([123456.0, 0.5]), torch.tensor([100000.0, 1.0]), torch.tensor(1.0) / 3)
print(torch.randn(12) * 100)
print(repr(torch.Size([2, 3])), torch.float32, torch.device("cpu"), repr(torch.device("cpu")), torch.strided)
