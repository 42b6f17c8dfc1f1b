"""Two views of a batch, normalised projections, the cross entropy of similarities."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
encoder = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
x = torch.randn(5, 6)
z1 = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
z2 = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
z = torch.cat([z1, z2])
sim = z @ z.T / 0.5
sim.fill_diagonal_(float("-inf"))
labels = torch.cat([torch.arange(5, 10), torch.arange(5)])
loss = F.cross_entropy(sim, labels)
loss.backward()
print(loss.item(), encoder[0].weight.grad.norm().item())
print((sim.argmax(1) == labels).float().mean().item())
