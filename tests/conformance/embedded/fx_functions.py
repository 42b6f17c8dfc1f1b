"""How functions of torch look in a graph, and tracers of one's own."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import fx
from torch.fx import GraphModule, Tracer, symbolic_trace


def attempt(what, f):
    try:
        r = f()
        print(what, "->", type(r).__name__)
        return r
    except BaseException as e:
        print(what, type(e).__name__, e)


def torchy(x):
    t = torch.ones(3); u = torch.tensor([1., 2., 3.])
    a = t + x; b = u[x]; c = t == x; d = torch.where(x > 0, t, u); e = t.mul(x); f = t.to(x); h = t & x; i = t - x; j = t @ x
    return torch.stack([a, b, c, d, e]), x.T, x.shape, x.dtype, x.device, torch.zeros((x.shape[0], 3), dtype=torch.float64, device=torch.device("cpu")), x.to(torch.int64), x.new_zeros(3), float("inf"), float("nan"), torch.float32, None, ..., slice(1, 2), 1j
attempt("torchy", lambda: print(symbolic_trace(torchy).code))
def torchy2(x):
    t = torch.ones(3)
    a = t + x; d = torch.where(x > 0, t, 1.0); e = t.mul(x)
    torch._assert(x.shape[0] == 2, "no")
    y = torch.ops.aten.relu.default(x); y = torch.ops.aten.add.Tensor(y, x, alpha=2); y = torch.ops.aten.mul(y, y)
    return F.sigmoid(x), F.tanh(x), F.one_hot(x, 3), F.logsigmoid(x), F.linear(x, t), F.conv2d(x, t, padding=1), F.cross_entropy(x, x), F.mse_loss(x, x), F.scaled_dot_product_attention(x, x, x), F.interpolate(x, scale_factor=2.0), torch.einsum("ab,bc->ac", x, x), x.new_zeros(3), float("inf"), float("nan"), torch.float32, None, 1j, F.embedding(x, t), F.normalize(x), F.pad(x, (1, 1)), F.batch_norm(x, t, t), F.log_softmax(x, 1), F.leaky_relu(x), F.silu(x), torch.norm(x), torch.linalg.norm(x), torch.fft.fft(x), torch.special.expit(x), F.adaptive_avg_pool2d(x, 1), F.avg_pool2d(x, 2), x.norm(), x.split(2), x.unbind(0), torch.chunk(x, 2), F.softplus(x), torch.meshgrid(x, x), torch.cdist(x, x), torch.tensordot(x, x, 1), F.kl_div(x, x), F.hardtanh(x), F.relu6(x), F.cosine_similarity(x, x), F.group_norm(x, 2), F.binary_cross_entropy_with_logits(x, x), F.nll_loss(x, x), torch.bmm(x, x), F.unfold(x, 2), F.elu(x), F.prelu(x, t), F.glu(x), F.pixel_shuffle(x, 2), F.gumbel_softmax(x), F.smooth_l1_loss(x, x), F.instance_norm(x), torch.unique(x)
g = attempt("torchy2", lambda: symbolic_trace(torchy2)); print(g.code); print(g.graph)
t = fx.Tracer(); gr = t.trace(lambda x: x + 1); print(t.root, gr, GraphModule(t.root, gr))
print(repr(fx.Proxy(next(iter(gr.nodes)))), fx.PH)
class NoLeaf(Tracer):
    def is_leaf_module(self, m, q): return not isinstance(m, (nn.GELU, nn.Dropout, nn.LayerNorm, nn.Softmax, nn.LeakyReLU))
class B(nn.Module):
    def __init__(s):
        super().__init__(); s.l = nn.Linear(2, 2); s.bn = nn.BatchNorm1d(2); s.drop = nn.Dropout(); s.gelu = nn.GELU(); s.ln = nn.LayerNorm(2); s.sm = nn.Softmax(1); s.up = nn.Upsample(scale_factor=2); s.act=nn.LeakyReLU()
    def forward(s, x): return s.act(s.up(s.sm(s.ln(s.gelu(s.drop(s.bn(s.l(x))))))))
b = B().eval(); tr = NoLeaf(); gr = tr.trace(b); gm = GraphModule(b, gr, "Mine"); print(gm.code); print(gm)
for n in gr.nodes: print(n, list(n.meta.get("nn_module_stack", {}).items()) and [(k, v[0], v[1].__name__) for k, v in n.meta["nn_module_stack"].items()])
print(tr.path_of_module(b.l)); attempt("path", lambda: tr.path_of_module(nn.ReLU()))
class Conv1dTrace(nn.Module):
    def __init__(s): super().__init__(); s.c = nn.Conv1d(1, 1, 1)
    def forward(s, x): return s.c(x)
attempt("conv1d", lambda: print(GraphModule(nn.Module(), fx.Graph()).code))
class Al(Tracer):
    def is_leaf_module(self, m, q): return False
attempt("conv1d", lambda: print(Al().trace(Conv1dTrace())))
attempt("mha", lambda: print(symbolic_trace(nn.MultiheadAttention(4, 2)).code))
attempt("lstm", lambda: print(symbolic_trace(nn.Sequential(nn.LSTM(4, 2))).code))
def shared(x): return x.foo.bar(x, y=x.baz)
print(symbolic_trace(shared).code)
