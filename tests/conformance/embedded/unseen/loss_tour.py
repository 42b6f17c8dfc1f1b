# Evaluate most of the built-in losses on fixed inputs, with gradients, and check some against formulas.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(88)
pred = torch.randn(6, 4, requires_grad=True)
cls = torch.tensor([0, 3, 1, 2, 2, 0])
reg = torch.randn(6, 4)
probs = torch.softmax(torch.randn(6, 4), dim=1)
binary = (torch.rand(6, 4) > 0.5).float()
emb_a, emb_b, emb_c = (torch.randn(6, 5, requires_grad=True) for _ in range(3))
sgn = torch.tensor([1., -1., 1., 1., -1., -1.])


def report(name, loss, wrt=None):
    g, = torch.autograd.grad(loss, pred if wrt is None else wrt)
    print(f"{name:<28} {loss.item():9.4f}   |grad| {g.norm().item():.4f}")


report("cross entropy", nn.CrossEntropyLoss()(pred, cls))
report("cross entropy weighted", nn.CrossEntropyLoss(weight=torch.tensor([1., 2., .5, 1.]))(pred, cls))
report("cross entropy smooth", F.cross_entropy(pred, cls, label_smoothing=0.1))
report("cross entropy soft targets", F.cross_entropy(pred, probs))
report("nll", nn.NLLLoss(reduction="sum")(F.log_softmax(pred, 1), cls))
report("mse", nn.MSELoss()(pred, reg))
report("l1", nn.L1Loss()(pred, reg))
report("smooth l1", nn.SmoothL1Loss(beta=0.5)(pred, reg))
report("huber", nn.HuberLoss(delta=0.7)(pred, reg))
report("bce", nn.BCELoss()(torch.sigmoid(pred), binary))
report("bce logits", F.binary_cross_entropy_with_logits(pred, binary, pos_weight=torch.full((4,), 2.0)))
report("kl div", nn.KLDivLoss(reduction="batchmean")(F.log_softmax(pred, 1), probs))
report("poisson nll", nn.PoissonNLLLoss()(pred, reg.abs()))
report("gaussian nll", nn.GaussianNLLLoss()(pred, reg, torch.full((6, 4), 0.5)))
report("hinge embedding", nn.HingeEmbeddingLoss()(pred[:, 0], sgn))
report("soft margin", nn.SoftMarginLoss()(pred[:, 0], sgn))
report("multi margin", nn.MultiMarginLoss()(pred, cls))
report("multilabel soft margin", nn.MultiLabelSoftMarginLoss()(pred, binary))
report("margin ranking", nn.MarginRankingLoss(margin=0.2)(pred[:, 0], pred[:, 1], sgn))
report("cosine embedding", nn.CosineEmbeddingLoss(margin=0.1)(emb_a, emb_b, sgn), emb_a)
report("triplet", nn.TripletMarginLoss(margin=1.0)(emb_a, emb_b, emb_c), emb_b)
report("pairwise distance", F.pairwise_distance(emb_a, emb_b).mean(), emb_a)

T, N, C = 10, 3, 5
logits = torch.randn(T, N, C, requires_grad=True)
targets = torch.randint(1, C, (N, 4))
ctc = nn.CTCLoss()(logits.log_softmax(2), targets, torch.full((N,), T), torch.tensor([4, 3, 2]))
report("ctc", ctc, logits)

# by hand
ce = -pred.log_softmax(1)[range(6), cls].mean()
print("ce by hand:", torch.allclose(ce, F.cross_entropy(pred, cls)))
p = torch.sigmoid(pred)
focal = (-(1 - torch.where(binary == 1, p, 1 - p)) ** 2 * torch.where(binary == 1, p, 1 - p).log()).mean()
report("focal", focal)
report("log cosh", torch.log(torch.cosh(pred - reg)).mean())
q = torch.tensor([0.1, 0.5, 0.9])
err = reg.unsqueeze(-1) - pred.unsqueeze(-1)
report("pinball", torch.max(q * err, (q - 1) * err).mean())

# InfoNCE on normalised embeddings
za, zb = F.normalize(emb_a, dim=1), F.normalize(emb_b, dim=1)
sim = za @ zb.T / 0.2
report("info nce", (F.cross_entropy(sim, torch.arange(6)) + F.cross_entropy(sim.T, torch.arange(6))) / 2, emb_a)
print("unreduced:", F.mse_loss(pred, reg, reduction="none").mean(1).detach())
try:
    F.cross_entropy(pred, torch.tensor([0, 1]))
except ValueError as e:
    print("ValueError:", e)
