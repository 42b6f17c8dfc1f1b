"""Tangents, and tangents of gradients (as a Hessian takes them), through layers, losses, sums, products and factors."""
import torch
from torch.func import grad, hessian, jvp
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)


def points(*shape):
    count = 1
    for n in shape:
        count *= n
    return torch.sin(torch.arange(1.0, count + 1) * 1.7).reshape(shape) * 0.8 + 0.3


def tell(name, f, *ins):
    ones = tuple(torch.cos(t * 3) for t in ins)
    print(name, jvp(f, ins, ones)[1], jvp(grad(lambda *a: f(*a).pow(2).sum()), ins, ones)[1])


for name in ("softplus silu mish elu selu celu hardtanh relu6 leaky_relu softsign logsigmoid tanhshrink hardswish softshrink hardshrink glu gelu").split():
    tell(name, getattr(F, name), points(2, 4))
tell("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), points(2, 4))
tell("prelu", F.prelu, points(2, 3), points(3))
tell("layer_norm", lambda x, w, b: F.layer_norm(x, (4,), w, b), points(2, 3, 4), points(4), points(4))
tell("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), points(2, 4, 3), points(4), points(4))
tell("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), points(2, 4, 3), points(4), points(4))
tell("batch_norm, eval", lambda x, w: F.batch_norm(x, torch.zeros(4), torch.ones(4), w, None), points(2, 4, 3), points(4))
tell("conv2d", F.conv2d, points(1, 2, 4, 4), points(3, 2, 3, 3), points(3))
for name in ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"):
    tell(name, lambda x: getattr(F, name)(x, 2), points(1, 2, 4, 4))
tell("embedding", lambda w: F.embedding(torch.tensor([0, 1, 2, 1]), w), points(4, 3))
tell("smooth_l1_loss", F.smooth_l1_loss, points(3), points(3).flip(0))
tell("l1_loss", F.l1_loss, points(3), points(3).flip(0))
tell("binary_cross_entropy", lambda p: F.binary_cross_entropy(p, torch.tensor([0.0, 1.0, 0.5])), points(3).sigmoid())
tell("cross_entropy", lambda x: F.cross_entropy(x, torch.tensor([0, 1, 1])), points(3, 2))
for name in ("prod", "abs", "nan_to_num", "i0", "digamma"):
    tell(name, getattr(torch, name), points(3, 3).abs() + 0.2)
tell("logcumsumexp", lambda x: x.logcumsumexp(0), points(3, 2))
tell("cummax", lambda x: x.cummax(0)[0], points(3, 2))
for name in ("cholesky", "inv", "eigvalsh"):
    def of_positive(x):
        out = getattr(torch.linalg, name)(x @ x.mT + torch.eye(3))
        return out if isinstance(out, torch.Tensor) else out[1]
    tell(name, of_positive, points(3, 3))
for name, f in (("det", torch.linalg.det), ("slogdet", lambda x: torch.linalg.slogdet(x)[1]), ("solve", lambda x: torch.linalg.solve(x, x[0])), ("median", torch.median)):
    print(name, jvp(f, (points(3, 3) + 2 * torch.eye(3),), (torch.ones(3, 3),))[1])
tell("solve_triangular", lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), points(3, 3) + 2 * torch.eye(3), points(3, 1))
for name in ("fmax", "fmin", "remainder", "fmod"):
    tell(name, getattr(torch, name), points(3).abs() + 1, points(3).flip(0).abs() + 0.5)
tell("dist", torch.dist, points(3), points(3).flip(0))
tell("cross", torch.linalg.cross, points(2, 3), points(2, 3).flip(0))
tell("bilinear", F.bilinear, points(3, 2), points(3, 4), points(5, 2, 4))
tell("index", lambda x: x[torch.tensor([0, 1, 0])], points(3))
tell("take", lambda x: x.take(torch.tensor([0, 4])), points(3, 3))
tell("scatter_reduce", lambda x, s: x.scatter_reduce(0, torch.tensor([[0, 1, 1]]), s, "amax"), points(3, 3), points(1, 3))
tell("pad", lambda x: F.pad(x, (1, 1), mode="reflect"), points(1, 2, 3))
tell("interpolate", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), points(1, 2, 3, 3))
tell("gru_cell", torch.gru_cell, points(2, 3), points(2, 2), points(6, 3), points(6, 2))
print(hessian(lambda x: F.softplus(F.layer_norm(x, (4,))).sum())(points(4)))
print(hessian(lambda x: F.gelu(x).prod())(points(3)))
