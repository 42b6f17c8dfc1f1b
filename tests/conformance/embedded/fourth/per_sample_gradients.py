"""Per-sample gradients with torch.func (vmap over grad), compared with a loop and used for a private SGD step."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, vmap


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 3 * 3, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


torch.manual_seed(0)
model = SimpleCNN()
data = torch.randn(10, 1, 8, 8)
targets = torch.randint(0, 5, (10,))


def naive(sample, target):
    loss = F.cross_entropy(model(sample.unsqueeze(0)), target.unsqueeze(0))
    return torch.autograd.grad(loss, list(model.parameters()))


loop = [torch.stack(g) for g in zip(*[naive(s, t) for s, t in zip(data, targets)])]

params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}


def compute_loss(params, buffers, sample, target):
    pred = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
    return F.cross_entropy(pred, target.unsqueeze(0))


ft = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))(params, buffers, data, targets)
for (name, g), ref in zip(ft.items(), loop):
    print(f"{name:12s} {str(tuple(g.shape)):18s} same as loop: {torch.allclose(g, ref, atol=1e-5)}")

norms = torch.stack([g.flatten(1).norm(dim=1) for g in ft.values()]).norm(dim=0)
print("norms", " ".join("%.3f" % n for n in norms))

# differentially private training: clip each sample, add noise
C, sigma, lr = 1.0, 0.3, 0.3
step_fn = vmap(grad_and_value(compute_loss), in_dims=(None, None, 0, 0))
for step in range(12):
    grads, losses = step_fn(params, buffers, data, targets)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
    factor = (C / (norms + 1e-6)).clamp(max=1.0)
    new = {}
    for k, g in grads.items():
        clipped = torch.einsum("n,n...->...", factor, g)
        noisy = (clipped + sigma * C * torch.randn_like(clipped)) / len(data)
        new[k] = params[k] - lr * noisy
    params = new
    if step % 4 == 0:
        print("step %2d mean loss %.3f clipped %d of 10" % (step, losses.mean().item(), int((factor < 1).sum())))

# mean of per-sample gradients equals the gradient of the mean loss
g_all = grad(lambda p: F.cross_entropy(functional_call(model, p, (data,)), targets))(params)
g_each = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))(params, buffers, data, targets)
print("mean matches:", all(torch.allclose(g_all[k], g_each[k].mean(0), atol=1e-5) for k in g_all))
