"""PointNet style classifier of point clouds that is invariant to the order of the points."""
import torch
import torch.nn as nn


class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv = nn.Sequential(nn.Conv1d(k, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.fc = nn.Linear(16, k * k)
        nn.init.zeros_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x):
        h = self.conv(x).amax(dim=2)
        return self.fc(h).view(-1, self.k, self.k) + torch.eye(self.k)


class PointNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.tnet = TNet(3)
        self.feat = nn.Sequential(
            nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 48, 1), nn.BatchNorm1d(48), nn.ReLU())
        self.cls = nn.Sequential(nn.Linear(48, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, classes))

    def forward(self, pts):            # (B, N, 3)
        x = pts.transpose(1, 2)
        T = self.tnet(x)
        x = torch.bmm(T, x)
        g, _ = self.feat(x).max(dim=2)
        return self.cls(g), T


def cloud(kind, n=32):
    if kind == 0:      # sphere
        p = torch.randn(n, 3)
        p = p / p.norm(dim=1, keepdim=True)
    elif kind == 1:    # cube surface
        p = torch.rand(n, 3) * 2 - 1
        face = torch.randint(3, (n,))
        p[torch.arange(n), face] = torch.randint(0, 2, (n,)).float() * 2 - 1
    else:              # cylinder
        t = torch.rand(n) * 6.2832
        p = torch.stack([t.cos(), t.sin(), torch.rand(n) * 2 - 1], 1)
    return p + 0.03 * torch.randn(n, 3)


def batch(n):
    y = torch.randint(0, 3, (n,))
    return torch.stack([cloud(k.item()) for k in y]), y


def regularizer(T):
    I = torch.eye(T.size(1)).expand_as(T)
    return (I - T @ T.transpose(1, 2)).norm(dim=(1, 2)).mean()


torch.manual_seed(6)
net = PointNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
ce = nn.CrossEntropyLoss()
for step in range(1, 51):
    x, y = batch(24)
    logits, T = net(x)
    loss = ce(logits, y) + 0.01 * regularizer(T)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print("step %d loss %.3f" % (step, loss.item()))

net.eval()
with torch.no_grad():
    x, y = batch(120)
    pred, _ = net(x)
    shuffled, _ = net(x[:, torch.randperm(x.size(1))])
print("accuracy %.2f" % (pred.argmax(1) == y).float().mean().item())
print("order does not matter:", torch.allclose(pred, shuffled, atol=1e-4))
