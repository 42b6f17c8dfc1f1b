"""My first PyTorch program: fit a straight line with plain gradient descent."""
import torch

torch.manual_seed(0)

# true values
w_true = 2.5
b_true = -0.7

X = torch.rand(100, 1) * 4 - 2
y = w_true * X + b_true + 0.1 * torch.randn(100, 1)

w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1

for epoch in range(60):
    y_pred = X * w + b
    loss = ((y_pred - y) ** 2).mean()
    loss.backward()

    # update weights by hand, don't forget no_grad!!
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad

    w.grad.zero_()
    b.grad.zero_()

    if epoch % 10 == 0:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  w {w.item():.4f}  b {b.item():.4f}")

print("learned: y = %.3f x + %.3f" % (w.item(), b.item()))

# compare with the closed form solution
A = torch.cat([X, torch.ones_like(X)], dim=1)
sol = torch.linalg.lstsq(A, y).solution
print("lstsq:   y = %.3f x + %.3f" % (sol[0].item(), sol[1].item()))
print("close enough:", bool((sol.squeeze() - torch.stack([w, b]).squeeze()).abs().max() < 1e-2))
