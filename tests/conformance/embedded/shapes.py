"""Views: who shares memory with whom, what is a copy, and what shape it has."""
import torch

x = torch.zeros(2, 3)
x.fill_(1.5)
y = x.view(3, 2)
y.add_(1)
print(x.tolist(), y._version, x._version, x.shape, y.stride())
z = x.t()
print(z.shape, z.is_contiguous(), z.reshape(6).tolist(), z.unsqueeze(0).shape, z.unsqueeze(-1).squeeze(-1).shape)
print(x.transpose(0, 1).shape, x[0].tolist(), x.select(1, 2).tolist(), x.expand(4, 2, 3).shape, x.as_strided((2, 2), (1, 2)).tolist())
row = x[1]
row.mul_(2)
print(x.tolist(), row.data_ptr() == x[1].data_ptr(), x.clone().sum().item(), x.detach().requires_grad)
print(x.sum(0).tolist(), x.sum(dim=1, keepdim=True).tolist(), x.mean((0, 1)).item(), x.mean(dim=0).shape)
print(x.numel(), x.dim(), x.size(), x.size(-1), x.stride(0), x.storage_offset(), x.element_size(), len(x))
print(torch.zeros_like(x).tolist(), torch.ones_like(x, dtype=torch.float64).dtype, x.new_zeros(2).tolist(), torch.empty(0, 3).shape)
print(x.to(torch.float64).dtype, x.double().float().dtype, x.to("cpu") is x, x.copy_(torch.ones(3)).sum().item())
