"""Batch norms fused into the layers before them, dropout removed, unused modules deleted."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx import symbolic_trace
from torch.fx.experimental.optimization import fuse, remove_dropout


torch.manual_seed(0)
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.c1 = nn.Conv2d(1, 2, 3); s.b1 = nn.BatchNorm2d(2); s.d = nn.Dropout(0.3); s.c2 = nn.Conv2d(2, 2, 1, bias=False); s.b2 = nn.BatchNorm2d(2); s.fc = nn.Linear(2, 3); s.b3 = nn.BatchNorm1d(3); s.unused = nn.Linear(1, 1)
    def forward(s, x):
        x = F.relu(s.b1(s.c1(x))); x = s.d(x); x = torch.sigmoid(s.b2(s.c2(x))).neg()
        return s.b3(s.fc(x.flatten(2).mean(-1)))
net = Net().eval(); x = torch.randn(2, 1, 5, 5)
fused = fuse(net); print(fused.code, fused); print(torch.allclose(fused(x), net(x), atol=1e-5))
nd = remove_dropout(net); print(nd.code)
gm = symbolic_trace(net); print([n for n, _ in gm.named_modules()]); print(gm.add_submodule("extra.deep", nn.ReLU()), gm.delete_submodule("nope"), gm.delete_submodule("extra.deep")); gm.delete_all_unused_submodules(); print([n for n, _ in gm.named_modules()])
