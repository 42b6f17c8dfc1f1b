"""Count operators with the profiler and estimate parameters and multiply-adds of a small convnet with hooks."""
import torch
import torch.nn as nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode


def build():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 10),
    )


def count_macs(model, x):
    macs = {}

    def conv(m, i, o):
        k = m.kernel_size[0] * m.kernel_size[1] * m.in_channels // m.groups
        macs[m] = k * o.numel()

    def linear(m, i, o):
        macs[m] = m.in_features * o.numel()

    hooks = []
    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            hooks.append(m.register_forward_hook(conv))
        elif isinstance(m, nn.Linear):
            hooks.append(m.register_forward_hook(linear))
    with torch.no_grad():
        model(x)
    for h in hooks:
        h.remove()
    return macs


torch.manual_seed(0)
net = build()
x = torch.randn(2, 3, 16, 16)

macs = count_macs(net, x)
for m, n in macs.items():
    print(f"{type(m).__name__:8s} params {sum(p.numel() for p in m.parameters()):6d} macs {n:8d}")
print("total macs", sum(macs.values()))

with FlopCounterMode(display=False) as counter:
    net(x)
print("flop counter", counter.get_total_flops(), "= 2 x macs:", counter.get_total_flops() == 2 * sum(macs.values()))

with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("forward"):
        out = net(x)
    with record_function("backward"):
        out.sum().backward()

counts = {e.key: e.count for e in prof.key_averages()}
for key in ("aten::conv2d", "aten::relu", "aten::linear", "aten::max_pool2d", "forward", "backward"):
    print(f"{key:18s} {counts.get(key, 0)}")
print("output sum %.4f" % out.sum().item())
bytes_ = sum(p.numel() * p.element_size() for p in net.parameters())
print("model size %d bytes" % bytes_)
