"""A straight line fitted by hand, without a module or an optimizer."""
import torch

torch.manual_seed(10)
x = torch.randn(30, 1)
y = 2 * x + 1 + 0.05 * torch.randn(30, 1)
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(5):
    loss = ((x * w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()
    print(f"epoch {epoch}: loss {loss.item():.4f} w {w.item():.3f} b {b.item():.3f}")
print(w, b)
