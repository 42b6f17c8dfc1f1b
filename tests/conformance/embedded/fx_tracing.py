"""A module traced: its graph, its code, what it computes, copies of it, and the shapes in it."""
import copy
import math
import pickle

import torch
import torch.fx as fx
import torch.nn as nn
import torch.nn.functional as F


class M(nn.Module):
    def __init__(s):
        super().__init__()
        s.conv=nn.Conv2d(3,4,3); s.bn=nn.BatchNorm2d(4); s.seq=nn.Sequential(nn.Linear(4,4), nn.ReLU()); s.p=nn.Parameter(torch.ones(4)); s.register_buffer("b", torch.zeros(4))
        s.c = torch.full((4,), 2.0)
    def forward(s, x, scale: float = 1.0, *, flag=None):
        y = F.relu(s.bn(s.conv(x)))
        y = F.max_pool2d(y, 2); y = F.dropout(y, 0.1, s.training)
        y = y.mean((2,3)) * s.p + s.b
        y = s.seq(y) * math.sqrt(4.0) + s.c
        n, c = y.shape
        z = torch.cat([y, -y], dim=1)[:, :c].view(n, -1)
        z = z[..., None].squeeze(-1).T.T
        w = F.softmax(z, dim=-1); w = F.gelu(w); w = F.layer_norm(w, (4,))
        a, b = torch.split(w, 2, 1)
        return {"a": a + 1, "b": [b, scale], "c": (a.size(0), 2 ** b, 1 - b, ~(b > 0))}
torch.manual_seed(0)
m=M().eval()
gm=fx.symbolic_trace(m)
print(gm.graph); print(gm.code); print(gm); gm.print_readable()
x=torch.randn(2,3,8,8)
print(gm(x)["a"], m(x)["a"])
for n in gm.graph.nodes: print(n.op, n.name, n.target if isinstance(n.target,str) else '', n.args, n.kwargs, list(n.users), n.all_input_nodes, sorted(n.meta), n.type)
g2=copy.deepcopy(gm); print(g2.code==gm.code, type(g2).__name__)
g3=pickle.loads(pickle.dumps(gm)); print(g3.code); print(torch.equal(g3(x)["a"], gm(x)["a"]))
try: gm.graph.print_tabular()
except ImportError as e: print("IE", e)
from torch.fx.passes.shape_prop import ShapeProp
ShapeProp(gm).propagate(x)
for n in gm.graph.nodes: print(n.name, n.meta.get("tensor_meta"), n.meta["type"])
gm.print_readable(include_stride=True, include_device=True)
