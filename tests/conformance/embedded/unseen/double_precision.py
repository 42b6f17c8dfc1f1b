"""An experiment in float64 throughout."""
import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(10)
A = torch.randn(4, 4)
b = torch.randn(4)
x = torch.linalg.solve(A, b)
print(x.dtype, (A @ x - b).abs().max().item() < 1e-10)
