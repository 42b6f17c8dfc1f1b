"""What flows through a network: forward hooks, tensor hooks, retained gradients."""
import torch
import torch.nn as nn

torch.manual_seed(8)
activations = {}


def save(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()
    return hook


net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
handles = [m.register_forward_hook(save(n)) for n, m in net.named_children()]
x = torch.randn(2, 3, requires_grad=True)
h = net[0](x)
h.retain_grad()
out = net[2](net[1](h))
h.register_hook(lambda g: print("gradient of h", g.norm().item()))
out.sum().backward()
print({k: tuple(v.shape) for k, v in activations.items()})
print(h.grad.shape, x.grad)
for handle in handles:
    handle.remove()
grads = []
net[0].register_full_backward_hook(lambda m, gi, go: grads.append(go[0].shape))
net(x).sum().backward()
print(grads)
