"""All losses, by modules and by functions, with their gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
a, b = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3)
kinds = {"mse": nn.MSELoss(), "l1": nn.L1Loss(), "smooth": nn.SmoothL1Loss(), "huber": nn.HuberLoss(delta=0.5), "sum": nn.MSELoss(reduction="sum"),
         "logits": nn.BCEWithLogitsLoss(), "hinge": nn.HingeEmbeddingLoss()}
for name, loss_fn in kinds.items():
    target = b.sigmoid() if name == "logits" else b.sign() if name == "hinge" else b
    a.grad = None
    loss = loss_fn(a, target)
    loss.backward()
    print(name, loss.item(), a.grad.norm().item())
labels = torch.tensor([0, 2, 1, 1])
for loss in (F.cross_entropy(a, labels), F.cross_entropy(a, labels, weight=torch.tensor([1.0, 2.0, 3.0])), F.cross_entropy(a, labels, label_smoothing=0.1), F.nll_loss(a.log_softmax(1), labels),
             F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"), F.binary_cross_entropy(a.sigmoid(), b.sigmoid()),
             F.margin_ranking_loss(a[:, 0], a[:, 1], b[:, 0].sign(), margin=0.1), F.triplet_margin_loss(a, b, b.flip(0)),
             F.cosine_embedding_loss(a, b, torch.tensor([1, -1, 1, -1])), F.poisson_nll_loss(a, b.abs()), F.gaussian_nll_loss(a, b, torch.ones(4, 3))):
    (grad,) = torch.autograd.grad(loss, a)
    print(loss.item(), grad.norm().item())
print(F.cosine_similarity(a, b), F.pairwise_distance(a, b), F.normalize(b, dim=1))
