"""Register a custom operator with torch.library, give it a fake kernel and autograd, and use it in a module."""
import torch
from torch import Tensor


@torch.library.custom_op("demo::soft_threshold", mutates_args=())
def soft_threshold(x: Tensor, lam: float) -> Tensor:
    return torch.sign(x) * torch.clamp(x.abs() - lam, min=0.0)


@soft_threshold.register_fake
def _(x, lam):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    x, lam = inputs
    ctx.save_for_backward(x)
    ctx.lam = lam


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * (x.abs() > ctx.lam), None


soft_threshold.register_autograd(backward, setup_context=setup_context)


class LISTA(torch.nn.Module):
    """Unrolled iterative soft thresholding for sparse coding."""

    def __init__(self, A: Tensor, steps: int = 30, lam: float = 0.05):
        super().__init__()
        L = torch.linalg.matrix_norm(A, 2) ** 2
        self.We = torch.nn.Parameter(A.T / L)
        self.S = torch.nn.Parameter(torch.eye(A.shape[1]) - A.T @ A / L)
        self.steps = steps
        self.lam = float(lam / L)

    def forward(self, y: Tensor) -> Tensor:
        b = y @ self.We.T
        z = soft_threshold(b, self.lam)
        for _ in range(self.steps):
            z = soft_threshold(b + z @ self.S.T, self.lam)
        return z


torch.manual_seed(0)
x = torch.tensor([-2.0, -0.3, 0.0, 0.4, 1.5], requires_grad=True)
y = torch.ops.demo.soft_threshold(x, 0.5)
print("out", y.tolist())
y.pow(2).sum().backward()
print("grad", x.grad.tolist())
print("same as softshrink:", torch.allclose(y, torch.nn.functional.softshrink(x, 0.5)))

meta = soft_threshold(torch.empty(3, 4, device="meta"), 0.1)
print("fake kernel:", tuple(meta.shape), meta.device)

z = torch.randn(6, dtype=torch.double) * 3
z.requires_grad_(True)
print("gradcheck:", torch.autograd.gradcheck(lambda t: soft_threshold(t, 0.5), (z,)))

A = torch.randn(12, 20) / 12 ** 0.5
code = torch.zeros(4, 20)
code[torch.arange(4), torch.tensor([1, 5, 9, 13])] = 1.0
net = LISTA(A)
with torch.no_grad():
    est = net(code @ A.T)
print("largest entries at", est.abs().argmax(1).tolist())
loss = (net(code @ A.T) - code).pow(2).mean()
loss.backward()
print("loss %.4f grad norm %.4f" % (loss.item(), net.S.grad.norm().item()))
