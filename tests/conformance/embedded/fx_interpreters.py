"""A traced network run node by node and made over, and trained."""
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx import Interpreter, Transformer, symbolic_trace
from torch.fx.passes.shape_prop import ShapeProp


def attempt(what, f):
    try:
        r = f()
        print(what, "->", type(r).__name__)
        return r
    except BaseException as e:
        print(what, type(e).__name__, e)


torch.manual_seed(0)
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.c1 = nn.Conv2d(1, 2, 3); s.b1 = nn.BatchNorm2d(2); s.d = nn.Dropout(0.3); s.c2 = nn.Conv2d(2, 2, 1, bias=False); s.b2 = nn.BatchNorm2d(2); s.fc = nn.Linear(2, 3); s.b3 = nn.BatchNorm1d(3); s.unused = nn.Linear(1, 1)
    def forward(s, x):
        x = F.relu(s.b1(s.c1(x))); x = s.d(x); x = torch.sigmoid(s.b2(s.c2(x))).neg()
        return s.b3(s.fc(x.flatten(2).mean(-1)))
net = Net().eval(); x = torch.randn(2, 1, 5, 5)
gm = symbolic_trace(net)
class Swap(Interpreter):
    def call_function(self, target, args, kwargs):
        if target is torch.sigmoid: return torch.neg(*args, **kwargs)
        return super().call_function(target, args, kwargs)
    def call_method(self, target, args, kwargs):
        if target == "neg": return args[0].sigmoid()
        return super().call_method(target, args, kwargs)
    def run_node(self, n):
        r = super().run_node(n); print(n.op, n.name, tuple(r.shape)); return r
print(Swap(gm).run(x))
print(Interpreter(gm, garbage_collect_values=False).run(x).shape)
class SwapT(Transformer):
    def call_function(self, target, args, kwargs):
        if target is torch.sigmoid: return torch.neg(*args, **kwargs)
        return super().call_function(target, args, kwargs)
    def call_method(self, target, args, kwargs):
        if target == "neg":
            s, *rest = args
            return s.sigmoid(*rest, **kwargs)
        return super().call_method(target, args, kwargs)
t = SwapT(gm).transform(); print(t.code, t(x).shape)
attempt("interp", lambda: Interpreter(gm).run()); attempt("interp2", lambda: Interpreter(gm).run(torch.ones(3)))
attempt("shape", lambda: ShapeProp(gm).propagate(x))
net2 = symbolic_trace(net); opt = torch.optim.SGD(net2.parameters(), 0.1); net2.train(); l = net2(x).sum(); l.backward(); opt.step(); print(sorted(k for k, v in net2.named_parameters() if v.grad is not None), net2.b1.running_mean)
n2 = symbolic_trace(net2); print(n2.code == net2.code); print(type(n2).__name__, net2.__class__.__mro__[1].__name__)
buf = io.BytesIO(); torch.save(net2.state_dict(), buf); buf.seek(0); net2.load_state_dict(torch.load(buf))

