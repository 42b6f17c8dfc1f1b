"""Gradients of gradients through normalisations and activations: a penalty on a critic's slope, a heat equation, products with a Hessian."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def penalised(critic, shape):
    """A step of a critic whose slope between real and made points should be 1."""
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    real, made = torch.randn(shape), torch.randn(shape)
    share = torch.rand(shape[0], *(1,) * (len(shape) - 1))
    between = (share * real + (1 - share) * made).requires_grad_()
    score = critic(between)
    (slope,) = torch.autograd.grad(score.sum(), between, create_graph=True)
    penalty = ((slope.flatten(1).norm(dim=1) - 1) ** 2).mean()
    loss = critic(made).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(type(critic[1]).__name__, loss.item(), [round(p.grad.norm().item(), 4) for p in critic.parameters()])


penalised(nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 1)), (4, 3))
penalised(nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(4, 1)), (4, 1, 4, 4))
penalised(nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.Mish(), nn.Flatten(), nn.Linear(8, 1)), (4, 2, 4))
penalised(nn.Sequential(nn.Linear(3, 8), nn.GLU(), nn.PReLU(4), nn.Linear(4, 1)), (4, 3))
penalised(nn.Sequential(nn.Conv2d(1, 2, 3), nn.InstanceNorm2d(2, affine=True), nn.Softplus(), nn.Flatten(), nn.Linear(8, 1)), (3, 1, 4, 4))

# The residual of a heat equation, for a network with smooth activations.
network = nn.Sequential(nn.Linear(2, 8), nn.GELU(approximate="tanh"), nn.Linear(8, 8), nn.Mish(), nn.Linear(8, 1))
points = torch.rand(5, 2, requires_grad=True)
u = network(points)
(first,) = torch.autograd.grad(u.sum(), points, create_graph=True)
(second,) = torch.autograd.grad(first[:, 0].sum(), points, create_graph=True)
residual = (first[:, 1] - 0.1 * second[:, 0]).pow(2).mean()
residual.backward()
print(residual.item(), [round(p.grad.norm().item(), 4) for p in network.parameters() if p.grad is not None])

# A Hessian times a vector, statistics standing still.
layer = nn.BatchNorm1d(3).eval()
weights = [p.detach().requires_grad_() for p in layer.parameters()]
x = torch.randn(4, 3, requires_grad=True)
loss = F.batch_norm(x, layer.running_mean, layer.running_var, *weights).pow(3).sum()
(grad,) = torch.autograd.grad(loss, x, create_graph=True)
print(torch.autograd.grad(grad, [x, *weights], torch.ones_like(grad)))
