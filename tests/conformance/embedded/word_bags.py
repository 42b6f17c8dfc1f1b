"""Texts as bags of words, and sounds as sequences of labels."""
import torch
from torch import nn

torch.manual_seed(8)
words, starts = torch.tensor([1, 4, 2, 6, 3, 3, 5, 0, 7]), torch.tensor([0, 3, 4, 7])
for mode in ("mean", "sum", "max"):
    bags, layer = nn.EmbeddingBag(8, 3, mode=mode, padding_idx=0), nn.Linear(3, 2)
    loss = nn.functional.cross_entropy(layer(bags(words, starts)), torch.tensor([0, 1, 1, 0]))
    loss.backward()
    print(mode, loss.item(), bags.weight.grad)
weights = torch.rand(9, requires_grad=True)
table = torch.randn(8, 3)
mixed = nn.functional.embedding_bag(words, table, starts, mode="sum", per_sample_weights=weights)
print(mixed, torch.autograd.grad(mixed.square().sum(), weights) if mixed.requires_grad else None)
print(nn.functional.embedding_bag(words[:8].view(2, 4), table), nn.EmbeddingBag(4, 2))
sounds = torch.randn(7, 2, 5, requires_grad=True)
for reduction in ("mean", "sum", "none"):
    loss = nn.CTCLoss(reduction=reduction, zero_infinity=True)(sounds.log_softmax(2), torch.tensor([[1, 2, 2], [3, 4, 0]]), torch.tensor([7, 6]), torch.tensor([3, 2]))
    gradient, = torch.autograd.grad(loss.sum(), sounds)
    print(reduction, loss, gradient.norm().item())
several = nn.functional.multilabel_margin_loss(sounds[0], torch.tensor([[3, 0, -1, 1, 0], [1, -1, 0, 0, 0]]))
print(several, torch.autograd.grad(several, sounds)[0].abs().sum())
