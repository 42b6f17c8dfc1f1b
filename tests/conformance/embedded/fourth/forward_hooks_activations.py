"""Collect activation statistics, gradients and a Grad-CAM map with hooks."""
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("conv1", nn.Conv2d(3, 8, 3, padding=1))
model.add_module("relu1", nn.ReLU())
model.add_module("pool", nn.MaxPool2d(2))
model.add_module("conv2", nn.Conv2d(8, 12, 3, padding=1))
model.add_module("relu2", nn.ReLU())
model.add_module("gap", nn.AdaptiveAvgPool2d(1))
model.add_module("flat", nn.Flatten())
model.add_module("fc", nn.Linear(12, 4))

stats = defaultdict(dict)
saved = {}
handles = []


def forward_hook(name):
    def fn(module, inputs, output):
        stats[name]["shape"] = tuple(output.shape)
        stats[name]["mean"] = output.detach().mean().item()
        stats[name]["std"] = output.detach().std().item()
        if name == "relu2":
            saved["act"] = output
            output.register_hook(lambda g: saved.__setitem__("grad", g))
    return fn


def backward_hook(name):
    def fn(module, grad_input, grad_output):
        stats[name]["gnorm"] = grad_output[0].norm().item()
    return fn


for name, layer in model.named_children():
    handles.append(layer.register_forward_hook(forward_hook(name)))
    if isinstance(layer, (nn.Conv2d, nn.Linear)):
        handles.append(layer.register_full_backward_hook(backward_hook(name)))

x = torch.randn(2, 3, 8, 8)
logits = model(x)
logits.max(dim=1).values.sum().backward()

for name, s in stats.items():
    g = "%.4f" % s["gnorm"] if "gnorm" in s else "-"
    print(f"{name:6s} {str(s['shape']):15s} mean {s['mean']:8.4f} std {s['std']:7.4f} grad {g}")

# Grad-CAM
weights = saved["grad"].mean(dim=(2, 3), keepdim=True)
cam = F.relu((weights * saved["act"]).sum(dim=1)).detach()
cam = cam / (cam.amax(dim=(1, 2), keepdim=True) + 1e-8)
print("cam shape", tuple(cam.shape), "max %.2f" % cam[0].max().item(), "second image sum %.2f" % cam[1].sum().item())

for h in handles:
    h.remove()
n = len(stats)
stats.clear()
model(x)
print("recorded before", n, "after removal", len(stats))


# a pre-hook may change the input
def double(module, args):
    return (args[0] * 2,)


with torch.no_grad():
    y1 = model[7](torch.ones(1, 12))
    h = model[7].register_forward_pre_hook(double)
    y2 = model[7](torch.ones(1, 12))
    h.remove()
print("pre-hook doubles:", torch.allclose(y2 - model.fc.bias, 2 * (y1 - model.fc.bias), atol=1e-6))
