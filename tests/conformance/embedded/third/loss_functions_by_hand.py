"""Re-derive common loss functions from their formulas and check them against torch.nn.functional."""
import torch
import torch.nn.functional as F

torch.manual_seed(77)


def check(name, mine, ref):
    ok = torch.allclose(mine, ref, atol=1e-5)
    print(f"{name:18s} {mine.item():8.4f} {'ok' if ok else 'MISMATCH %.4f' % ref.item()}")


logits = torch.randn(6, 4)
target = torch.tensor([0, 3, 1, 1, 2, 0])
logp = logits - logits.exp().sum(1, keepdim=True).log()
picked = logp[torch.arange(6), target]
check("cross_entropy", -picked.mean(), F.cross_entropy(logits, target))

w = torch.tensor([1.0, 2.0, 0.5, 1.5])
check("weighted ce", -(w[target] * picked).sum() / w[target].sum(), F.cross_entropy(logits, target, weight=w))

eps = 0.1
smooth = -(1 - eps) * picked - eps * logp.mean(1)
check("label smoothing", smooth.mean(), F.cross_entropy(logits, target, label_smoothing=eps))

ign = target.clone()
ign[2] = -100
check("ignore_index", -picked[ign >= 0].mean(), F.cross_entropy(logits, ign))

z = torch.randn(8)
t = torch.randint(0, 2, (8,)).float()
bce = z.clamp(min=0) - z * t + torch.log1p(torch.exp(-z.abs()))
check("bce with logits", bce.mean(), F.binary_cross_entropy_with_logits(z, t))
pos = torch.tensor(3.0)
check("bce pos_weight", -(pos * t * F.logsigmoid(z) + (1 - t) * F.logsigmoid(-z)).mean(),
      F.binary_cross_entropy_with_logits(z, t, pos_weight=pos))

p = torch.sigmoid(z)
pt = torch.where(t == 1, p, 1 - p)
focal = (0.25 * (1 - pt) ** 2 * bce).mean()
print("focal loss         %8.4f smaller than bce: %s" % (focal.item(), (focal < bce.mean()).item()))

a, b = torch.randn(10), torch.randn(10)
d = a - b
check("mse", d.square().mean(), F.mse_loss(a, b))
check("l1", d.abs().mean(), F.l1_loss(a, b))
check("smooth_l1", torch.where(d.abs() < 1, 0.5 * d ** 2, d.abs() - 0.5).mean(), F.smooth_l1_loss(a, b))
check("huber", torch.where(d.abs() < 2, 0.5 * d ** 2, 2 * (d.abs() - 1)).mean(), F.huber_loss(a, b, delta=2.0))

q = torch.softmax(torch.randn(3, 5), 1)
r = torch.softmax(torch.randn(3, 5), 1)
check("kl_div", (q * (q / r).log()).sum() / 3, F.kl_div(r.log(), q, reduction="batchmean"))

s = torch.tensor([1.0, -1, 1, -1, 1, 1, -1, -1, 1, -1])
check("soft margin", torch.log1p(torch.exp(-s * a)).mean(), F.soft_margin_loss(a, s))
check("hinge embedding", torch.where(s == 1, a, (1 - a).clamp(min=0)).mean(), F.hinge_embedding_loss(a, s))
rate = torch.rand(10) * 4
check("poisson nll", (a.exp() - rate * a).mean(), F.poisson_nll_loss(a, rate))
var = torch.rand(10) + 0.1
check("gaussian nll", (0.5 * (var.log() + d ** 2 / var)).mean(), F.gaussian_nll_loss(a, b, var))
