"""einsum, tensordot, outer and batched products, kinds of norms."""
import torch

torch.manual_seed(12)
a, b, c = torch.randn(2, 3), torch.randn(3, 4), torch.randn(5, 2, 3, requires_grad=True)
print(torch.einsum("ij,jk->ik", a, b).shape, torch.einsum("bij,jk->bik", c, b).sum().item(), torch.einsum("ii->i", torch.eye(3)), torch.einsum("ij->", a).item())
torch.einsum("bij,bij->b", c, c).sum().backward()
print(c.grad.norm().item(), torch.tensordot(a, b, dims=1).shape, torch.tensordot(c.detach(), a, dims=([1, 2], [0, 1])))
print(torch.outer(torch.arange(3.0), torch.arange(2.0)), torch.inner(a, a), a @ b[:, 0], torch.bmm(c.detach(), b.expand(5, 3, 4)).shape)
print(a.norm().item(), a.norm(p=1).item(), torch.norm(a, dim=1), torch.linalg.norm(a).item(), torch.linalg.vector_norm(a, float("inf")).item())
