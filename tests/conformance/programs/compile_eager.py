"""torch.compile with the backends `eager` and `aot_eager`: tracing under fake tensors, then the compiled graph, then a guard that fails."""
import torch


def body(x, w):
    y = torch.relu(x @ w)
    if x.shape[0] > 2:
        y = y + 1
    return (y * y.sin()).sum()


torch.manual_seed(5)
w = torch.randn(3, 4, requires_grad=True)
for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    compiled = torch.compile(body, backend=backend)
    for rows in (2, 2, 4):
        x = torch.randn(rows, 3)
        w.grad = None
        out = compiled(x, w)
        out.backward()
        print(backend, rows, out.item().hex(), w.grad.tolist())
