"""Results into given tensors; the same by methods with an underscore."""
import torch

a, b, out = torch.arange(3.0), torch.ones(3), torch.empty(3)
torch.add(a, b, out=out)
torch.mul(out, 2, out=out)
print(out, torch.sub(a, b, alpha=2, out=out), torch.div(a, 4, out=torch.empty(0)), torch.exp(a, out=torch.empty(3)), torch.cumsum(a, 0, out=out), torch.maximum(a, b, out=out))
x = torch.tensor([1.5, -2.5])
x.abs_().sqrt_().mul_(3).clamp_(max=4).neg_()
print(x, x.add_(1, alpha=0.5), x.copy_(torch.zeros(2)), x.fill_(2).pow_(3), x.sub_(1).div_(2).round_())
try:
    torch.exp(torch.ones(2, requires_grad=True), out=torch.empty(2))
except RuntimeError as e:
    print(e)
