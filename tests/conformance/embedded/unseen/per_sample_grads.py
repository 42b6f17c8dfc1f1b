# Per-sample gradients with torch.func (grad + vmap), checked against a loop; a DP-SGD style update.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap, jacrev, hessian

torch.manual_seed(10)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(6, 10)
        self.l2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))


model = MLP()
data = torch.randn(8, 6)
targets = torch.randint(0, 3, (8,))
params = {k: v.detach() for k, v in model.named_parameters()}


def compute_loss(p, x, t):
    out = functional_call(model, p, (x.unsqueeze(0),))
    return F.cross_entropy(out, t.unsqueeze(0))


per_sample = vmap(grad(compute_loss), in_dims=(None, 0, 0))(params, data, targets)
for k, g in per_sample.items():
    print(k, tuple(g.shape))

# reference: one backward per sample
ref = []
for x, t in zip(data, targets):
    model.zero_grad()
    F.cross_entropy(model(x[None]), t[None]).backward()
    ref.append({k: p.grad.clone() for k, p in model.named_parameters()})
same = all(torch.allclose(per_sample[k], torch.stack([r[k] for r in ref]), atol=1e-6) for k in params)
print("matches loop:", same)

# mean of per-sample grads is the batch grad
model.zero_grad()
F.cross_entropy(model(data), targets).backward()
print("mean matches batch:", all(torch.allclose(per_sample[k].mean(0), p.grad, atol=1e-6)
                                 for k, p in model.named_parameters()))

# clip each sample, add noise, step
norms = torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in per_sample.values()))
print("grad norms:", [round(v, 4) for v in norms.tolist()])
C, sigma, lr = 1.0, 0.1, 0.5
scale = (C / norms).clamp(max=1.0)
with torch.no_grad():
    before = F.cross_entropy(model(data), targets)
    for k, p in model.named_parameters():
        clipped = torch.einsum("b,b...->...", scale, per_sample[k]) / len(data)
        p -= lr * (clipped + sigma * C / len(data) * torch.randn_like(p))
    after = F.cross_entropy(model(data), targets)
print(f"loss {before.item():.4f} -> {after.item():.4f}")

# jacobian and hessian of a small function
f = lambda v: torch.stack([v[0] ** 2 * v[1], torch.sin(v[1]) + v[2]])
v = torch.tensor([1.0, 2.0, 3.0])
print("J =\n", jacrev(f)(v))
rosen = lambda z: (1 - z[0]) ** 2 + 100 * (z[1] - z[0] ** 2) ** 2
z = torch.tensor([-1.2, 1.0], dtype=torch.float64)
H = hessian(rosen)(z)
print("H =\n", H)
for _ in range(6):
    z = z - torch.linalg.solve(hessian(rosen)(z), grad(rosen)(z))
print("newton:", [round(i, 4) for i in z.tolist()])
print("batched dot:", vmap(torch.dot)(data[:, :3], data[:, 3:]).shape)
