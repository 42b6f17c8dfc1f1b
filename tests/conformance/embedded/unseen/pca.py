"""Principal components by a singular value decomposition."""
import torch

torch.manual_seed(3)
x = torch.randn(20, 3) @ torch.tensor([[3.0, 0, 0], [0, 1.0, 0], [0, 0, 0.1]])
x = x - x.mean(dim=0)
u, s, vh = torch.linalg.svd(x, full_matrices=False)
print(s)
print((s ** 2 / (s ** 2).sum()))
covariance = x.T @ x / (len(x) - 1)
print(torch.linalg.eigvalsh(covariance))
