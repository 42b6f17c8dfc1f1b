"""jvp and second derivatives of many operators: their values."""
import torch
import torch.nn.functional as F
from torch.func import grad, jacrev, jvp, vjp

torch.manual_seed(14)
torch.set_default_dtype(torch.float64)
x, y, t, s = (torch.rand(3, 4) + 0.2 for _ in range(4))
i = torch.tensor([[0, 2], [1, 3], [3, 0]])
ONE = [torch.exp, torch.log, torch.sin, torch.cos, torch.tan, torch.tanh, torch.sqrt, torch.rsqrt, torch.reciprocal, torch.log1p, torch.log2, torch.log10, torch.expm1, torch.erf, torch.erfc, torch.exp2, torch.atan,
       torch.sinh, torch.cosh, torch.asinh, torch.sigmoid, F.silu, F.gelu, F.relu, F.leaky_relu, F.elu, F.softplus, F.hardtanh, F.hardswish, F.hardsigmoid, F.mish, F.logsigmoid, torch.abs, torch.lgamma, torch.digamma, torch.neg,
       torch.frac, torch.floor, torch.sinc, lambda a: a ** 3, lambda a: a ** 0.5, lambda a: 2 ** a, lambda a: a.clamp(0.3, 0.8), lambda a: a * 3, lambda a: a / 3, lambda a: 2 - a, lambda a: 1 / a, lambda a: a + 1,
       lambda a: a.sum(), lambda a: a.sum(0), lambda a: a.mean(), lambda a: a.mean(1, keepdim=True), lambda a: a.max(), lambda a: a.max(0).values, lambda a: a.amax(1), lambda a: a.var(), lambda a: a.std(0), lambda a: a.norm(),
       lambda a: torch.linalg.vector_norm(a, 3, dim=0), lambda a: a.logsumexp(1), lambda a: a.softmax(1), lambda a: a.log_softmax(0), lambda a: a.cumsum(1), lambda a: a.sort().values, lambda a: a.topk(2).values,
       lambda a: a.view(2, 6), lambda a: a.t(), lambda a: a.permute(1, 0), lambda a: a[1], lambda a: a[:, 1:3], lambda a: a.unsqueeze(0), lambda a: a.expand(2, 3, 4), lambda a: a.flip(0), lambda a: a.roll(1), lambda a: a.tril(),
       lambda a: a.repeat(2, 1), lambda a: a.unfold(1, 2, 1), lambda a: a.diagonal(), lambda a: torch.cat([a, a * 2]), lambda a: torch.stack([a, a.exp()]), lambda a: torch.cat(a.split(2, 1)), lambda a: a.gather(1, i), lambda a: a.t()[i[:, 0]],
       lambda a: a.masked_fill(a > 0.5, 0.0), lambda a: torch.where(a > 0.5, a, a * 2), lambda a: a.clone().mul_(a), lambda a: F.pad(a, (1, 1)), lambda a: a.reshape(-1).dot(a.reshape(-1)), lambda a: F.normalize(a),
       lambda a: F.layer_norm(a, (4,)), lambda a: F.conv1d(a[None], torch.ones(2, 3, 2)), lambda a: F.conv1d(torch.ones(1, 3, 4), a[None, :, :2]), lambda a: F.avg_pool2d(a[None, None], 2), lambda a: F.interpolate(a[None, None], scale_factor=2),
       lambda a: F.cross_entropy(a, i[:, 0]), lambda a: F.nll_loss(a, i[:, 0]), lambda a: F.embedding(i, a.t()), lambda a: torch.linalg.inv(a[:, :3] + 3 * torch.eye(3)), lambda a: a.float().double() * 1.0]
TWO = [torch.add, torch.sub, torch.mul, torch.div, torch.pow, torch.atan2, torch.maximum, torch.minimum, torch.hypot, torch.logaddexp, lambda a, b: a @ b.t(), lambda a, b: a.mv(b[0]), lambda a, b: torch.addmm(a, a[:, :3], b), F.linear,
       lambda a, b: F.linear(a, b, b[:, 0]), lambda a, b: a[None].bmm(b.t()[None]), F.mse_loss, F.smooth_l1_loss, F.huber_loss, lambda a, b: torch.addcmul(a, a, b), lambda a, b: torch.addcdiv(a, a, b), lambda a, b: torch.lerp(a, b, 0.3),
       lambda a, b: torch.xlogy(a, b), lambda a, b: F.layer_norm(a, (4,), b[0], b[1]), lambda a, b: torch.einsum("ij,kj->ik", a, b), lambda a, b: a.scatter_add(1, i, b), lambda a, b: a.clone().copy_(b) * a]


def told(v):
    return tuple(v.shape), round(v.sum().item(), 5) + 0.0, round((v * v).sum().item(), 5)


for number, f in enumerate(ONE):
    print("one", number, *map(told, jvp(f, (x,), (t,))))
for number, f in enumerate(TWO):
    print("two", number, *map(told, jvp(f, (x, y), (t, s))))
    print("half", number, told(jvp(lambda a: f(a, y), (x,), (t,))[1]), told(jvp(lambda b: f(x, b), (y,), (s,))[1]))
image, kernel = torch.rand(1, 2, 6, 6), torch.rand(3, 2, 3, 3)
TWICE = [lambda a: F.conv2d(a, kernel).tanh().sum(), lambda a: F.max_pool2d(a * a, 2).pow(2).sum(), lambda a: F.avg_pool2d(a * a, 2).pow(2).sum(), lambda a: F.adaptive_avg_pool2d(a.sin(), 2).pow(2).sum(),
         lambda a: F.interpolate(a, scale_factor=2, mode="bilinear").pow(3).sum(), lambda a: F.pad(a, (1, 1, 1, 1), mode="reflect").pow(3).sum(), lambda a: F.softplus(a).pow(2).sum(), lambda a: F.elu(a - 0.5).pow(2).sum(),
         lambda a: F.logsigmoid(a).pow(2).sum(), lambda a: F.hardswish(a * 4 - 2).pow(2).sum(), lambda a: F.hardtanh(a, 0.2, 0.8).pow(2).sum(), lambda a: F.softshrink(a, 0.3).pow(2).sum(), lambda a: a.unfold(2, 2, 1).pow(3).sum()]
for number, f in enumerate(TWICE):
    print("twice", number, told(grad(lambda a: grad(f)(a).sin().sum())(image)))
print("twice kernel", told(grad(lambda k: grad(lambda w: F.conv2d(image, w).tanh().sum())(k).sin().sum())(kernel)))
for number, f in enumerate((F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits, lambda a, b: F.cross_entropy(a, i[:, 0]), lambda a, b: F.mse_loss(a, b, reduction="none").sum())):
    print("loss", number, told(grad(lambda a: grad(f)(a, y / 2).sin().sum())(x / 2)), told(jacrev(jacrev(lambda a: f(a, y / 2)))(x / 2)))
print(told(grad(lambda w: grad(lambda v: F.embedding(i, v.t()).pow(3).sum())(w).sin().sum())(x)), told(vjp(lambda a: grad(lambda b: b.tanh().sum())(a), x)[1](t)[0]))
