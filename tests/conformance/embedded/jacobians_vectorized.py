"""torch.autograd.functional with vectorize=True, and autograd.grad of a batch of gradients."""
import torch
from torch.autograd.functional import hessian, jacobian

torch.manual_seed(13)
x, y = torch.randn(3), torch.randn(3)
print(jacobian(torch.exp, x, vectorize=True), torch.allclose(jacobian(torch.exp, x), jacobian(torch.exp, x, vectorize=True)))
print(jacobian(lambda a, b: (a * b, (a + b).sum()), (x, y), vectorize=True))
print(hessian(lambda a: (a ** 3).sum() + a[0] * a[1], x, vectorize=True))
print(jacobian(lambda a, b: a * b[0], (x, y), vectorize=True, strategy="forward-mode"))
print((hessian(lambda a: (a ** 3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode") + 0.0).tolist())
w = torch.randn(4, 3, requires_grad=True)
out = w @ x
print(torch.autograd.grad(out, w, torch.eye(4), is_grads_batched=True)[0].shape)
for wrong in (lambda: jacobian(torch.exp, x, strategy="forward-mode"), lambda: jacobian(torch.exp, x, create_graph=True, strategy="forward-mode"), lambda: jacobian(torch.exp, x, strategy="x")):
    try:
        wrong()
    except (RuntimeError, NotImplementedError, AssertionError) as e:
        print(type(e).__name__, e)
