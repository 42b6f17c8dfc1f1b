"""Convolutions, pooling and normalisation over lines and pictures."""
import torch
from torch import nn

torch.manual_seed(17)
line = torch.randn(2, 4, 10, requires_grad=True)
for layer in (nn.Conv1d(4, 3, 3, padding=1), nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(3), nn.BatchNorm1d(4), nn.InstanceNorm1d(4, affine=True), nn.GroupNorm(2, 4),
              nn.LayerNorm(10)):
    line.grad = None
    y = layer(line)
    y.pow(2).sum().backward()
    print(type(layer).__name__, tuple(y.shape), y.sum().item(), line.grad.norm().item())
picture = torch.randn(2, 3, 8, 8, requires_grad=True)
for layer in (nn.Conv2d(3, 6, 3, stride=2, groups=3), nn.MaxPool2d(2), nn.AvgPool2d(3, stride=2, padding=1), nn.AdaptiveAvgPool2d(2), nn.BatchNorm2d(3), nn.InstanceNorm2d(3),
              nn.ZeroPad2d(1), nn.Flatten()):
    picture.grad = None
    y = layer(picture)
    y.pow(2).sum().backward()
    print(type(layer).__name__, tuple(y.shape), y.sum().item(), picture.grad.norm().item())
drop = nn.Dropout2d(0.5)
print(drop(torch.ones(2, 4, 1, 1)).flatten(), nn.Dropout(0.3)(torch.ones(6)), drop.eval()(torch.ones(1, 2, 1, 1)).flatten())
