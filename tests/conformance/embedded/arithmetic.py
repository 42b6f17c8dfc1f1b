"""Signs, numbers beside tensors, broadcasting, type promotion, in-place forms."""
import torch

torch.manual_seed(1)
a, b = torch.randn(3, 4), torch.randn(4)
print((a + b).sum().item(), (a - 1).sum().item(), (2 * a).sum().item(), (a / 3).sum().item(), (-a).sum().item())
print((a + torch.ones(3, 1, dtype=torch.float64)).dtype, (torch.ones(2, dtype=torch.int64) + 1.5).dtype, (torch.ones(2, dtype=torch.int32) * 2).dtype)
print(torch.add(a, b, alpha=2).mean().item(), torch.sub(a, b, alpha=0.5).mean().item(), torch.mul(a, 2).mean().item())
c = a.exp()
c += 1
c *= b
c -= a
c /= 2
print(c.sum().item(), a.pow(2).sum().item(), (a ** 3).sum().item(), torch.tanh(a).mean().item(), a.sin().cos().sum().item())
print(torch.relu(a).sum().item(), a.clamp_min(0.5).sum().item(), (a * a).log().sum().item())
print((a @ b.view(4, 1)).tolist(), a.mm(a.t()).sum().item(), torch.addmm(b.expand(3, 4), a, torch.ones(4, 4), beta=2).sum().item())
