"""Embeddings: padding, weights of one's own, similarity, skip-gram with negative samples."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(26)
embed = nn.Embedding(6, 4, padding_idx=0)
ids = torch.tensor([[1, 2, 0], [3, 0, 0]])
out = embed(ids)
mask = (ids != 0).float().unsqueeze(-1)
mean = (out * mask).sum(1) / mask.sum(1)
mean.pow(2).sum().backward()
print(mean, embed.weight.grad[0], embed.weight.grad.norm(dim=1))
given = nn.Embedding.from_pretrained(torch.eye(3))
print(given(torch.tensor([2, 0])), given.weight.requires_grad)
center, context = nn.Embedding(6, 4), nn.Embedding(6, 4)
positive = (center(torch.tensor([1])) * context(torch.tensor([2]))).sum(1)
negative = torch.bmm(context(torch.tensor([[3, 4]])), center(torch.tensor([1])).unsqueeze(2)).squeeze(2)
loss = -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(1)).mean()
loss.backward()
print(loss.item(), F.cosine_similarity(center.weight[1], context.weight, dim=-1))
