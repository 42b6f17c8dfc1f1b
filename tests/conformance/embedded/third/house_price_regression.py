"""Predict synthetic house prices with a small MLP and report RMSE on a held-out split."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(42)

# fake houses: area, rooms, age, distance to the centre
n = 400
area = torch.rand(n) * 150 + 30
rooms = torch.randint(1, 7, (n,)).float()
age = torch.rand(n) * 60
dist = torch.rand(n) * 20
price = 3.2 * area + 12 * rooms - 0.8 * age - 4.5 * dist + 50 + torch.randn(n) * 8

X = torch.stack([area, rooms, age, dist], dim=1)
X = (X - X.mean(0)) / X.std(0)
y_mean, y_std = price.mean(), price.std()
y = ((price - y_mean) / y_std).unsqueeze(1)

dataset = TensorDataset(X, y)
train_set, test_set = random_split(dataset, [320, 80])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=80)

model = nn.Sequential(
    nn.Linear(4, 32),
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(10):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * xb.size(0)
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  train mse {running / len(train_set):.4f}")

model.eval()
with torch.no_grad():
    xb, yb = next(iter(test_loader))
    pred = model(xb)
    rmse = ((pred - yb) ** 2).mean().sqrt() * y_std
print("test rmse (k$): %.3f" % rmse.item())
print("first predictions:", [round(v, 1) for v in (pred[:3, 0] * y_std + y_mean).tolist()])
