"""Freezing layers, parameter groups, hooks, buffers, named parameters, applying a function."""
import torch
from torch import nn

torch.manual_seed(22)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
for p in net[0].parameters():
    p.requires_grad = False
seen = []
handle = net[1].register_forward_hook(lambda module, args, out: seen.append((type(module).__name__, tuple(out.shape))))
net[2].weight.register_hook(lambda grad: grad * 2)
optimizer = torch.optim.SGD([{"params": net[2].weight}, {"params": [net[2].bias], "lr": 0.5}], lr=0.1)
net(torch.ones(2, 3)).sum().backward()
optimizer.step()
handle.remove()
net(torch.ones(1, 3))
print(seen, [(n, p.requires_grad, p.grad is None) for n, p in net.named_parameters()])


def start(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.constant_(m.bias, 0.1)


net.apply(start)
print(net[2].bias, nn.utils.parameters_to_vector(net.parameters()).shape)
nn.utils.vector_to_parameters(torch.zeros(26), net.parameters())
print(net[0].weight.sum().item(), [n for n, _ in net.named_modules()], list(net.state_dict()))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.count += 1
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x * self.scale


counter = Counter()
counter(torch.ones(1, 2))
print(counter.count, counter, counter.double().scale.dtype)
