"""Down, up and skip: transposed convolution, interpolation, concatenation."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
x = torch.randn(1, 1, 8, 8)
down = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
up = nn.ConvTranspose2d(4, 4, 2, stride=2)
final = nn.Conv2d(5, 1, 1)
h = down(x)
y = final(torch.cat([x, up(h)], dim=1))
loss = F.mse_loss(torch.sigmoid(y), torch.zeros_like(y))
loss.backward()
print(y.shape, loss.item(), up.weight.grad.abs().sum().item())
z = F.interpolate(h, scale_factor=2, mode="nearest")
print(z.shape, z.sum().item())
