"""A tensor data set, shuffled batches, a split, epochs of training."""
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(7)
x = torch.linspace(-1, 1, 20).unsqueeze(1)
data = TensorDataset(x, 3 * x + 0.1 * torch.randn(20, 1))
train, test = random_split(data, [15, 5])
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(2):
    for inputs, targets in DataLoader(train, batch_size=4, shuffle=True):
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), len(inputs))
with torch.no_grad():
    for inputs, targets in DataLoader(test, batch_size=5):
        print(torch.nn.functional.mse_loss(model(inputs), targets).item())
