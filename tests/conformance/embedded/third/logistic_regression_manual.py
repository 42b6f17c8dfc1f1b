"""Logistic regression with hand-written gradients compared against autograd."""
import torch

torch.manual_seed(3)

N, D = 200, 3
true_w = torch.tensor([1.5, -2.0, 0.5])
x = torch.randn(N, D)
y = (torch.sigmoid(x @ true_w + 0.3) > torch.rand(N)).float()


def sigmoid(z):
    return 1 / (1 + torch.exp(-z))


def loss_fn(w, b):
    p = sigmoid(x @ w + b)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


def manual_grad(w, b):
    err = sigmoid(x @ w + b) - y
    return x.t() @ err / N, err.mean()


w = torch.zeros(D, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.5

for it in range(100):
    loss = loss_fn(w, b)
    loss.backward()
    with torch.no_grad():
        gw, gb = manual_grad(w, b)
        if it % 25 == 0:
            print(f"iter {it:3d} loss {loss.item():.5f} grads agree: "
                  f"{torch.allclose(gw, w.grad, atol=1e-6) and torch.allclose(gb, b.grad, atol=1e-6)}")
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad.zero_()
        b.grad.zero_()

print("w:", [f"{v:.3f}" for v in w.tolist()], "b: %.3f" % b.item())
acc = ((sigmoid(x @ w + b) > 0.5).float() == y).float().mean()
print("train accuracy: %.3f" % acc.item())
