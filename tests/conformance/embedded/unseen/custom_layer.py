"""A layer and a loss of one's own, with einsum and parameters."""
import math

import torch
from torch import nn


class MyLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i) / math.sqrt(i))
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        return torch.einsum("bi,oi->bo", x, self.weight) + self.bias

    def extra_repr(self):
        return f"{self.weight.shape[1]} -> {self.weight.shape[0]}"


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        logp = torch.log_softmax(logits, dim=1)
        logpt = logp.gather(1, target.unsqueeze(1)).squeeze(1)
        return (-(1 - logpt.exp()) ** self.gamma * logpt).mean()


torch.manual_seed(13)
net = nn.Sequential(MyLinear(4, 8), nn.GELU(), MyLinear(8, 3))
print(net)
x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
loss = FocalLoss()(net(x), y)
loss.backward()
print(loss, [p.grad.norm().item() for p in net.parameters()])
