"""Homework 3: classifies three kinds of penguins from four body measures with a two-layer network."""
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(42)

# The csv is not allowed to be uploaded, so we make up penguins from the means in the lecture
means = torch.tensor([[38.8, 18.3, 190.0, 3700.0],
                      [48.8, 18.4, 196.0, 3730.0],
                      [47.5, 15.0, 217.0, 5070.0]])
stds = torch.tensor([[2.7, 1.2, 6.5, 460.0],
                     [3.3, 1.1, 7.1, 380.0],
                     [3.1, 1.0, 6.5, 500.0]])
labels = torch.randint(0, 3, (240,))
features = means[labels] + stds[labels] * torch.randn(240, 4)

# normalize
features = (features - features.mean(dim=0)) / features.std(dim=0)

dataset = TensorDataset(features, labels)
train_set, test_set = random_split(dataset, [200, 40])
train_loader = DataLoader(train_set, batch_size=20, shuffle=True)
test_loader = DataLoader(test_set, batch_size=40)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.fc1(x)
        x = self.relu(x)
        x = self.fc2(x)
        return x


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    running_loss = 0.0
    correct = 0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * inputs.size(0)
        _, predicted = torch.max(outputs.data, 1)
        correct += (predicted == targets).sum().item()
    print('Epoch [%d/8] loss: %.4f acc: %.3f' % (epoch + 1, running_loss / 200, correct / 200))

# confusion matrix
confusion = torch.zeros(3, 3, dtype=torch.int64)
net.eval()
with torch.no_grad():
    for inputs, targets in test_loader:
        predicted = net(inputs).argmax(dim=1)
        for t, p in zip(targets, predicted):
            confusion[t, p] += 1
print(confusion)
print('Test accuracy: %.3f' % (confusion.diag().sum().item() / confusion.sum().item()))
