"""Logistic regression on data that NumPy made."""
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 2)).astype(np.float32)
y = (X[:, 0] + X[:, 1] > 0).astype(np.float32)
X_t, y_t = torch.from_numpy(X), torch.from_numpy(y).unsqueeze(1)
model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
with torch.no_grad():
    model[0].weight.fill_(0.1)
    model[0].bias.zero_()
opt = torch.optim.SGD(model.parameters(), lr=1.0)
losses = []
for _ in range(10):
    p = model(X_t)
    loss = nn.BCELoss()(p, y_t)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
print(np.round(losses, 4))
predictions = (model(X_t).detach().numpy() > 0.5).astype(int).ravel()
print("accuracy", (predictions == y).mean())
