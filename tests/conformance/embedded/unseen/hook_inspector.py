# Use forward, backward and tensor hooks to inspect a small network (activations, grads, Grad-CAM).
import torch
import torch.nn as nn
from collections import OrderedDict

torch.manual_seed(99)


class SmallConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(OrderedDict([
            ("conv1", nn.Conv2d(3, 6, 3, stride=1, padding=1, bias=False)),
            ("gn", nn.GroupNorm(2, 6)),
            ("act1", nn.ReLU()),
            ("pool", nn.AvgPool2d(2)),
            ("conv2", nn.Conv2d(6, 8, 3, padding=1, groups=2)),
            ("act2", nn.Hardswish()),
        ]))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(self.features(x).mean(dim=(2, 3)))


net = SmallConvNet().eval()
print(net)

acts, grads, handles = {}, {}, []


def save_act(name):
    def hook(module, inputs, output):
        acts[name] = output.detach()
    return hook


def save_grad(name):
    def hook(module, grad_in, grad_out):
        grads[name] = grad_out[0].detach().clone()
    return hook


for name, mod in net.named_modules():
    if not list(mod.children()):
        handles.append(mod.register_forward_hook(save_act(name)))
handles.append(net.features.conv2.register_full_backward_hook(save_grad("features.conv2")))

x = torch.randn(2, 3, 12, 12)
scores = net(x)
target = scores.argmax(dim=1)
scores.gather(1, target.unsqueeze(1)).sum().backward()

for name, a in acts.items():
    zeros = (a == 0).float().mean().item()
    print(f"{name:16s} {str(tuple(a.shape)):16s} mean {a.mean():+.4f} std {a.std():.4f} zeros {zeros:.2f}")
g = grads["features.conv2"]
print("conv2 grad_out", tuple(g.shape), f"norm {g.norm():.4f}")

# Grad-CAM from the two hooks
weights = g.mean(dim=(2, 3), keepdim=True)
cam = torch.relu((weights * acts["features.conv2"]).sum(1))
cam = cam / cam.flatten(1).amax(1).view(-1, 1, 1).clamp(min=1e-8)
big = nn.functional.interpolate(cam.unsqueeze(1), scale_factor=2, mode="bilinear", align_corners=False)
print("cam", tuple(big.shape), f"mean {big.mean():.4f}")
print("hottest pixel:", [divmod(i, 12) for i in big.flatten(1).argmax(1).tolist()])

for h in handles:
    h.remove()
acts.clear()
net(x)
print("after removal:", len(acts), "activations")

# a pre-hook that changes the input, and a hook that returns a new output
h1 = net.fc.register_forward_pre_hook(lambda m, inp: (inp[0] * 2,))
h2 = net.fc.register_forward_hook(lambda m, inp, out: out - out.mean(1, keepdim=True))
print("row means ~0:", bool(net(x).mean(1).abs().max() < 1e-5))
h1.remove(), h2.remove()

# tensor hooks: scale and watch a gradient
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
seen = []
mid = w * w
mid.retain_grad()
mid.register_hook(lambda gr: seen.append(gr.tolist()))
w.register_hook(lambda gr: gr.clamp(max=5.0))
(mid * torch.tensor([1.0, 1.0, 10.0])).sum().backward()
print("seen:", seen, "w.grad:", w.grad, "mid.grad:", mid.grad)
