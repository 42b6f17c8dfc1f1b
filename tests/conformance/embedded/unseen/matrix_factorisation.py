"""Ratings out of two embeddings, sampled with indices."""
import torch
import torch.nn as nn

torch.manual_seed(17)
users, items = nn.Embedding(5, 3), nn.Embedding(6, 3)
nn.init.normal_(users.weight, std=0.1)
nn.init.normal_(items.weight, std=0.1)
u, i, r = torch.tensor([0, 1, 2, 3, 4, 0]), torch.tensor([1, 2, 3, 4, 5, 0]), torch.tensor([5.0, 3.0, 4.0, 1.0, 2.0, 4.0])
opt = torch.optim.Adagrad(list(users.parameters()) + list(items.parameters()), lr=0.5)
for epoch in range(3):
    prediction = (users(u) * items(i)).sum(dim=1) + r.mean()
    loss = ((prediction - r) ** 2).mean() + 1e-3 * (users.weight ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{epoch}: {loss.item():.4f}")
scores = users.weight @ items.weight.T
values, order = scores.sort(dim=1, descending=True)
print(order[:, :2], values.shape, torch.topk(scores[0], 2).indices)
