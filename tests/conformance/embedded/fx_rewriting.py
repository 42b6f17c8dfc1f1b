"""Parts of graphs that look like a pattern, replaced."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx import replace_pattern, symbolic_trace
from torch.fx.subgraph_rewriter import replace_pattern_with_filters


def attempt(what, f):
    try:
        r = f()
        print(what, "->", type(r).__name__)
        return r
    except BaseException as e:
        print(what, type(e).__name__, e)


torch.manual_seed(0)
def f(x, w1, w2):
    m1 = torch.cat([w1, w2]).sum(); m2 = torch.cat([w1, w2]).sum()
    return x + torch.max(m1) + torch.max(m2)
def pat(w1, w2): return torch.cat([w1, w2]).sum()
def rep(w1, w2): return torch.stack([w1, w2])
gm = symbolic_trace(f); ms = replace_pattern(gm, pat, rep); print(gm.code, [(m.anchor, dict(m.nodes_map)) for m in ms])
def f2(x): return torch.relu(torch.relu(x) + 1) + torch.relu(x + 1)
gm = symbolic_trace(f2); ms = replace_pattern(gm, lambda x: torch.relu(x + 1), lambda x: F.gelu(x) - 1); print(gm.code, len(ms))
gm = symbolic_trace(f2); ms = replace_pattern(gm, lambda x, y: torch.relu(x + y), lambda x, y: torch.mul(x, y)); print(gm.code, ms[0])
gm = symbolic_trace(f2); ms = replace_pattern_with_filters(gm, lambda x: torch.relu(x), lambda x: x.tanh(), [lambda m, o, p: m.placeholder_nodes[0].op != "placeholder"]); print(gm.code, len(ms))
attempt("dead", lambda: replace_pattern(gm, lambda x, y: x, lambda x, y: x)); 
class Rep(nn.Module):
    def __init__(s): super().__init__(); s.lin = nn.Linear(2, 2)
    def forward(s, x): return s.lin(x)
gm = symbolic_trace(lambda x: torch.tanh(x) * 2); replace_pattern(gm, lambda x: torch.tanh(x), symbolic_trace(Rep())); print(gm.code, gm); print(gm(torch.ones(1, 2)))
