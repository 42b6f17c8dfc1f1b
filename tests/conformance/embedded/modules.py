"""nn.Module: own modules, children, parameters, buffers, hooks, states, evaluation."""
import torch
from torch import nn

torch.manual_seed(3)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        return self.inner(x) * self.scale + self.shift


net = nn.Sequential(Block(4), nn.ReLU(), nn.Linear(4, 2, bias=False))
print(net)
print([name for name, _ in net.named_parameters()], [name for name, _ in net.named_modules()], sum(p.numel() for p in net.parameters()))
calls = []
handle = net[0].register_forward_hook(lambda module, args, out: calls.append(out.shape))
x = torch.randn(3, 4)
out = net(x)
print(out.shape, calls, out.sum().item())
handle.remove()
net.eval()
with torch.no_grad():
    same = net(x)
print(net.training, net[0].training, (same - out).sum().item(), same.requires_grad)
twin = nn.Sequential(Block(4), nn.ReLU(), nn.Linear(4, 2, bias=False))
twin.load_state_dict(net.state_dict())
print(sorted(twin.state_dict()), twin(x).sum().item(), twin[0].scale is net[0].scale)
net.requires_grad_(False)
print(any(p.requires_grad for p in net.parameters()), net.zero_grad())
net.double()
print(net[2].weight.dtype, net(x.double()).sum().item())
