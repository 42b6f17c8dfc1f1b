"""Folds batch norms into the convolutions before them with torch.fx and checks that the inference result is the same."""
import copy
from collections import Counter

import torch
import torch.fx as fx
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(c)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(h)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU())
        self.block = Residual(8)
        self.lonely_bn = nn.BatchNorm2d(8)       # follows a relu: can't be folded
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.block(self.stem(x))
        x = self.lonely_bn(x)
        return self.fc(x.mean(dim=(2, 3)))


def fold(conv: nn.Conv2d, bn: nn.BatchNorm2d) -> nn.Conv2d:
    new = copy.deepcopy(conv)
    k = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    bias = conv.bias if conv.bias is not None else torch.zeros_like(bn.running_mean)
    new.weight = nn.Parameter((conv.weight * k[:, None, None, None]).detach())
    new.bias = nn.Parameter((bn.bias + (bias - bn.running_mean) * k).detach())
    return new


def set_submodule(root, path, module):
    parent, _, name = path.rpartition(".")
    setattr(root.get_submodule(parent) if parent else root, name, module)


def fold_all(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(copy.deepcopy(model).eval())
    mods = dict(gm.named_modules())
    for node in list(gm.graph.nodes):
        if node.op != "call_module" or not isinstance(mods[node.target], nn.BatchNorm2d):
            continue
        prev = node.args[0]
        if prev.op == "call_module" and isinstance(mods[prev.target], nn.Conv2d) and len(prev.users) == 1:
            set_submodule(gm, prev.target, fold(mods[prev.target], mods[node.target]))
            node.replace_all_uses_with(prev)
            gm.graph.erase_node(node)
            print("folded", node.target, "into", prev.target)
    gm.graph.lint()
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


net = Net()
net.train()
with torch.no_grad():
    for _ in range(5):                            # give the running statistics some life
        net(torch.randn(16, 3, 12, 12) * 2 + 1)
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.weight.uniform_(0.5, 1.5)
            m.bias.normal_()
net.eval()
folded = fold_all(net)
kinds = lambda m: dict(sorted(Counter(type(c).__name__ for c in m.modules() if not list(c.children())).items()))
print("before:", kinds(net))
print("after: ", kinds(folded))
for node in folded.graph.nodes:
    print(f"   {node.op:14s} {str(node.target if node.op == 'call_module' else node.name)}")
x = torch.randn(4, 3, 12, 12)
with torch.inference_mode():
    a, b = net(x), folded(x)
print("same output:", torch.allclose(a, b, atol=1e-4))
print("first row:", ["%.3f" % v for v in b[0].tolist()])
