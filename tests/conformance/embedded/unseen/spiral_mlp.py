# Classify a three-armed spiral with a small MLP (CS231n style toy data).
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)

N, K, D = 20, 3, 2   # points per class, classes, dims


def make_spiral():
    X = torch.zeros(N * K, D)
    y = torch.zeros(N * K, dtype=torch.long)
    for j in range(K):
        ix = range(N * j, N * (j + 1))
        r = torch.linspace(0.05, 1, N)
        t = torch.linspace(j * 4, (j + 1) * 4, N) + torch.randn(N) * 0.15
        X[list(ix)] = torch.stack([r * torch.sin(t), r * torch.cos(t)], dim=1)
        y[N * j:N * (j + 1)] = j
    return X, y


class Net(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.fc1 = nn.Linear(D, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, K)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.out(x)


X, y = make_spiral()
print("X", X.shape, X.dtype, "y", y.shape, y.dtype)
print("class counts:", torch.bincount(y).tolist())
print(f"mean={X.mean().item():.4f} std={X.std().item():.4f}")

model = Net()
print(model)
print("params:", sum(p.numel() for p in model.parameters()))

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)

for epoch in range(25):
    optimizer.zero_grad()
    logits = model(X)
    loss = criterion(logits, y)
    loss.backward()
    optimizer.step()
    if epoch % 8 == 0:
        acc = (logits.argmax(1) == y).float().mean()
        print(f"epoch {epoch:3d} loss {loss.item():.4f} acc {acc.item():.3f}")

with torch.no_grad():
    probs = F.softmax(model(X), dim=1)
    conf, pred = probs.max(dim=1)

cm = torch.zeros(K, K, dtype=torch.int64)
for t, p in zip(y, pred):
    cm[t, p] += 1
print("confusion matrix:\n", cm)
print("final acc: %.3f" % (pred == y).float().mean().item())
print("mean confidence: %.3f" % conf.mean())
entropy = -(probs * probs.clamp_min(1e-9).log()).sum(1)
print("max entropy fraction: %.3f" % (entropy.max() / math.log(K)).item())
