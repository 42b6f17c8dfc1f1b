"""A small classifier: train and eval, accuracy, dropout, a schedule."""
import torch
from torch import nn

torch.manual_seed(11)
x = torch.randn(40, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
for epoch in range(4):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        prediction = model(x).argmax(dim=1)
        accuracy = (prediction == y).float().mean()
    print(epoch, loss.item(), accuracy.item(), schedule.get_last_lr())
print(model, sum(p.numel() for p in model.parameters()))
