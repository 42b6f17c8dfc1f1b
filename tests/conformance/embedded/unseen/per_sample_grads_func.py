# Per-sample gradients with torch.func, checked against a loop, and one step of DP-SGD style clipping.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap, jacrev, hessian

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
params = {k: v.detach() for k, v in model.named_parameters()}
X = torch.randn(10, 6)
y = torch.randint(0, 3, (10,))


def loss_fn(params, x, t):
    out = functional_call(model, params, (x.unsqueeze(0),))
    return F.cross_entropy(out, t.unsqueeze(0))


per_sample = vmap(grad(loss_fn), in_dims=(None, 0, 0))(params, X, y)
for k, g in per_sample.items():
    print(f"{k:10s} {tuple(g.shape)}")

# reference: one backward per sample
ok = True
for i in range(len(X)):
    model.zero_grad()
    F.cross_entropy(model(X[i:i + 1]), y[i:i + 1]).backward()
    for k, p in model.named_parameters():
        ok &= torch.allclose(p.grad, per_sample[k][i], atol=1e-6)
print("loop agrees:", ok)

# mean of the per-sample gradients is the batch gradient
model.zero_grad()
F.cross_entropy(model(X), y).backward()
print("mean agrees:", all(torch.allclose(p.grad, per_sample[k].mean(0), atol=1e-6)
                          for k, p in model.named_parameters()))

# clip every sample to norm C, add noise
C, sigma = 0.5, 0.1
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
factor = (C / (norms + 1e-6)).clamp(max=1.0)
print("norms:", norms)
print("clipped:", (factor < 1).sum().item(), "of", len(X))
noisy = {k: (torch.einsum("n,n...->...", factor, g) + sigma * C * torch.randn_like(params[k])) / len(X)
         for k, g in per_sample.items()}
new_params = {k: params[k] - 0.5 * noisy[k] for k in params}
batch_loss = lambda p: F.cross_entropy(functional_call(model, p, (X,)), y)
print(f"loss before {batch_loss(params).item():.4f} after {batch_loss(new_params).item():.4f}")

# small jacobian and hessian
f = lambda v: (v ** 3).sum() + v[0] * v[1]
v = torch.tensor([1.0, 2.0, -1.0])
print(jacrev(f)(v))
print(hessian(f)(v))
dots = vmap(torch.dot)(X[:4], X[4:8])
print("batched dot:", dots, torch.allclose(dots, (X[:4] * X[4:8]).sum(1)))
