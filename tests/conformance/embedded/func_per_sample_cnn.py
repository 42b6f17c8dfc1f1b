"""Gradients of each sample of a small CNN, by vmap of grad over functional_call, against a loop; clipped and averaged."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, vmap

torch.manual_seed(4)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, padding=1), nn.Tanh(), nn.AvgPool2d(3), nn.Flatten(), nn.Linear(6, 3))
params = {k: v.detach() for k, v in net.named_parameters()}
images, labels = torch.randn(5, 1, 8, 8), torch.randint(0, 3, (5,))


def loss(params, image, label):
    return F.cross_entropy(functional_call(net, params, (image.unsqueeze(0),)), label.unsqueeze(0))


each = vmap(grad(loss), in_dims=(None, 0, 0))(params, images, labels)
print({k: tuple(v.shape) for k, v in each.items()})
for i in range(5):
    alone = grad(loss)(params, images[i], labels[i])
    print(all(torch.allclose(alone[k], each[k][i], atol=1e-5) for k in params))
norms = sum(g.flatten(1).pow(2).sum(1) for g in each.values()).sqrt()
scale = (1.0 / norms).clamp(max=1.0)
clipped = {k: torch.einsum("n,n...->...", scale, g) / 5 for k, g in each.items()}
print(norms, {k: round(v.norm().item(), 5) for k, v in clipped.items()})
grads, values = vmap(grad_and_value(loss), in_dims=(None, 0, 0), chunk_size=2)(params, images, labels)
print(values, torch.allclose(grads["0.weight"], each["0.weight"], atol=1e-6))
