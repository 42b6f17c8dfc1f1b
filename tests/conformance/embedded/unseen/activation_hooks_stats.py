# Inspect an MLP with forward hooks, pre-hooks, full backward hooks and tensor hooks.
from collections import OrderedDict
import torch
import torch.nn as nn

torch.manual_seed(11)
model = nn.Sequential(OrderedDict([
    ("fc1", nn.Linear(10, 20)),
    ("act1", nn.ReLU()),
    ("norm", nn.LayerNorm(20)),
    ("fc2", nn.Linear(20, 10)),
    ("act2", nn.LeakyReLU(0.1)),
    ("head", nn.Linear(10, 3)),
]))
for name, m in model.named_modules():
    if isinstance(m, nn.Linear):
        nn.init.kaiming_uniform_(m.weight, nonlinearity="relu")
        nn.init.constant_(m.bias, 0.01)

activations, gradients, order = {}, {}, []


def save_activation(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()
        order.append(name)
    return hook

def save_gradient(name):
    def hook(module, grad_input, grad_output):
        gradients[name] = grad_output[0].norm().item()
    return hook


handles = []
for name, m in model.named_children():
    handles.append(m.register_forward_hook(save_activation(name)))
    handles.append(m.register_full_backward_hook(save_gradient(name)))

x = torch.randn(16, 10, requires_grad=True)
target = torch.randint(3, (16,))
nn.CrossEntropyLoss(label_smoothing=0.1)(model(x), target).backward()

print("order:", order)
print(f"{'layer':6s} {'absmean':>8s} {'std':>8s} {'dead':>5s} {'grad':>8s}")
for name, a in activations.items():
    dead = (a <= 0).all(dim=0).sum().item()
    print(f"{name:6s} {a.abs().mean():8.4f} {a.std():8.4f} {dead:5d} {gradients[name]:8.4f}")

for h in handles:
    h.remove()
order.clear()
model(x)
print("after remove:", order)

# a pre-hook may change the input, a forward hook may replace the output
pre = model.fc1.register_forward_pre_hook(lambda mod, args: (args[0] * 0,))
print("zero input rows equal:", torch.allclose(model(x)[0], model(x)[5]))
pre.remove()
with_hook = model.head.register_forward_hook(lambda mod, args, out: out.softmax(-1))
print("row sums:", model(x)[:3].sum(dim=1))
with_hook.remove()

# tensor hooks
v = torch.tensor([1., -2., 3.], requires_grad=True)
h = v.register_hook(lambda g: g.clamp(-3, 3))
mid = v * 2
mid.retain_grad()
(mid ** 2).sum().backward()
print("clamped grad:", v.grad, "mid grad:", mid.grad)
