"""torch.compile with its default backend: a function and its backward become C++ kernels."""
import torch


def body(x, w):
    return torch.nn.functional.silu(x @ w).square().mean()


torch.manual_seed(6)
x, w = torch.randn(8, 4), torch.randn(4, 4, requires_grad=True)
compiled = torch.compile(body)
for _ in range(2):
    w.grad = None
    out = compiled(x, w)
    out.backward()
    print(out.item().hex(), w.grad.tolist())
