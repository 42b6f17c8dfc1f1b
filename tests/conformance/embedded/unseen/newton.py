"""Newton's method with a Hessian, gradient descent with momentum beside it."""
import torch
from torch.autograd.functional import hessian, jacobian


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


v = torch.tensor([-1.0, 1.0])
for step in range(3):
    g = jacobian(rosenbrock, v)
    H = hessian(rosenbrock, v)
    det = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
    inverse = torch.stack([torch.stack([H[1, 1], -H[0, 1]]), torch.stack([-H[1, 0], H[0, 0]])]) / det
    v = v - inverse @ g
    print(step, v.tolist(), rosenbrock(v).item())
w = torch.tensor([-1.0, 1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=1e-3, momentum=0.9)
for _ in range(5):
    opt.zero_grad()
    loss = rosenbrock(w)
    loss.backward()
    opt.step()
print(w, loss)
