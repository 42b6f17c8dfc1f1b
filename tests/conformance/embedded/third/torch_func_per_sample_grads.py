"""Compute per-sample gradients with torch.func vmap and grad and check them against a loop."""
import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 8)
        self.b = nn.Linear(8, 3)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


model = Small()
params = {k: v.detach() for k, v in model.named_parameters()}
x = torch.randn(10, 6)
y = torch.randint(0, 3, (10,))


def sample_loss(p, xi, yi):
    out = functional_call(model, p, (xi.unsqueeze(0),))
    return nn.functional.cross_entropy(out, yi.unsqueeze(0))


per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))(params, x, y)
for k, g in per_sample.items():
    print(k, tuple(g.shape))

# reference
for i in range(10):
    model.zero_grad()
    nn.functional.cross_entropy(model(x[i:i + 1]), y[i:i + 1]).backward()
    for k, p in model.named_parameters():
        assert torch.allclose(p.grad, per_sample[k][i], atol=1e-5), (i, k)
print("loop and vmap agree")

norms = torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in per_sample.values()))
print("gradient norms:", " ".join("%.4f" % v for v in norms.tolist()))

# DP-SGD like clipping of each sample's gradient
clip = norms.median()
scale = (clip / norms).clamp(max=1.0)
clipped = {k: torch.einsum("n,n...->...", scale, g) / len(x) for k, g in per_sample.items()}
total = torch.sqrt(sum(g.pow(2).sum() for g in clipped.values()))
print("clip at %.4f, norm of the mean clipped gradient %.4f" % (clip, total))
