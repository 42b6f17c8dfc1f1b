"""Per-sample gradients with torch.func, clipped and noised as in differentially private SGD."""
import torch
import torch.nn as nn
from torch.func import functional_call, grad, grad_and_value, vmap

torch.manual_seed(40)

model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
params = {k: v.detach().clone() for k, v in model.named_parameters()}

x = torch.randn(100, 5)
w = torch.tensor([1.0, -2.0, 0.5, 0.0, 0.0])
y = (x @ w + 0.2 * torch.randn(100) > 0).long()
x[:3] *= 8           # three outliers that would dominate an ordinary step


def loss_one(p, xi, yi):
    logits = functional_call(model, p, (xi.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, yi.unsqueeze(0))


per_sample = vmap(grad_and_value(loss_one), in_dims=(None, 0, 0))

# check against a python loop for the first samples
g, losses = per_sample(params, x, y)
for i in range(3):
    ref = grad(loss_one)(params, x[i], y[i])
    same = all(torch.allclose(g[k][i], ref[k], atol=1e-5) for k in params)
    print(f"sample {i}: loss {losses[i].item():.4f} same as loop: {same}")
print({k: tuple(v.shape) for k, v in g.items()})


def private_gradient(p, xb, yb, clip, sigma, gen):
    g, losses = per_sample(p, xb, yb)
    sq = sum(v.flatten(1).pow(2).sum(1) for v in g.values())
    factor = (clip / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    out = {}
    for k, v in g.items():
        summed = torch.einsum("b,b...->...", factor, v)
        noise = sigma * clip * torch.randn(summed.shape, generator=gen)
        out[k] = (summed + noise) / len(xb)
    return out, losses.mean(), (factor < 1).float().mean()


for clip, sigma in [(1e6, 0.0), (1.0, 0.0), (1.0, 0.5), (1.0, 4.0)]:
    gen = torch.Generator().manual_seed(9)
    p = {k: v.clone() for k, v in params.items()}
    for step in range(20):
        idx = torch.randperm(100, generator=gen)[:50]
        g, loss, clipped = private_gradient(p, x[idx], y[idx], clip, sigma, gen)
        p = {k: p[k] - 0.5 * g[k] for k in p}
    with torch.no_grad():
        acc = (functional_call(model, p, (x,)).argmax(1) == y).float().mean()
    print(f"clip {clip:9.1f} sigma {sigma:.1f}: last loss {loss.item():.3f} "
          f"clipped {clipped.item():.2f} accuracy {acc.item():.2f}")
