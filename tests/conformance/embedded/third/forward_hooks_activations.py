"""Record activation statistics and gradient norms of every layer with hooks."""
from collections import OrderedDict

import torch
import torch.nn as nn


class ActivationRecorder:
    def __init__(self, model):
        self.stats = OrderedDict()
        self.grads = OrderedDict()
        self.handles = []
        for name, module in model.named_modules():
            if len(list(module.children())) == 0:
                self.handles.append(module.register_forward_hook(self._fwd(name)))
                self.handles.append(module.register_full_backward_hook(self._bwd(name)))

    def _fwd(self, name):
        def hook(module, inputs, output):
            self.stats[name] = (type(module).__name__, tuple(output.shape),
                                output.mean().item(), (output == 0).float().mean().item())
        return hook

    def _bwd(self, name):
        def hook(module, grad_in, grad_out):
            self.grads[name] = grad_out[0].norm().item()
        return hook

    def remove(self):
        for h in self.handles:
            h.remove()
        self.handles.clear()


torch.manual_seed(8)
model = nn.Sequential(OrderedDict([
    ("conv", nn.Conv2d(3, 6, 3)),
    ("relu1", nn.ReLU()),
    ("pool", nn.AdaptiveAvgPool2d(2)),
    ("flat", nn.Flatten()),
    ("fc1", nn.Linear(24, 12)),
    ("relu2", nn.ReLU()),
    ("fc2", nn.Linear(12, 4)),
]))

rec = ActivationRecorder(model)
x = torch.randn(5, 3, 10, 10, requires_grad=True)
loss = nn.CrossEntropyLoss()(model(x), torch.tensor([0, 1, 2, 3, 0]))
loss.backward()
print("loss %.4f" % loss.item())
for name, (kind, shape, mean, zeros) in rec.stats.items():
    print(f"{name:6s} {kind:18s} {str(shape):16s} mean {mean:+.4f} zeros {zeros:.2f} grad {rec.grads[name]:.4f}")

rec.remove()
rec.stats.clear()
model(x)
print("after removal:", len(rec.stats))

# tensor hook that scales a gradient
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w.register_hook(lambda g: g * 10)
(w ** 2).sum().backward()
print("scaled grad", w.grad.tolist())
h.remove()

# forward pre hook that normalises the input
def pre(module, args):
    (inp,) = args
    return ((inp - inp.mean()) / inp.std(),)


lin = nn.Linear(4, 2)
lin.register_forward_pre_hook(pre)
big = torch.randn(3, 4) * 100
print("shift invariant:", torch.allclose(lin(big), lin(big + 50), atol=1e-4))
