"""Five-fold cross validation of softmax regression on flower-like data, using Subset samplers."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

np.random.seed(0)
torch.manual_seed(0)

# sepal length, sepal width, petal length, petal width (rough class means)
means = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
stds = np.array([[0.35, 0.38, 0.17, 0.10], [0.5, 0.3, 0.47, 0.2], [0.6, 0.3, 0.55, 0.27]])
X = np.concatenate([np.random.normal(m, s, size=(40, 4)) for m, s in zip(means, stds)]).astype(np.float32)
y = np.repeat([0, 1, 2], 40)
dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))


def reset_weights(m):
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()


k_folds = 5
indices = np.random.permutation(len(dataset))
folds = np.array_split(indices, k_folds)
model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3))
loss_function = nn.CrossEntropyLoss()
results = {}

for fold in range(k_folds):
    test_ids = folds[fold]
    train_ids = np.concatenate([f for i, f in enumerate(folds) if i != fold])
    trainloader = DataLoader(dataset, batch_size=16, sampler=SubsetRandomSampler(train_ids.tolist()))
    testloader = DataLoader(dataset, batch_size=24, sampler=SubsetRandomSampler(test_ids.tolist()))
    model.apply(reset_weights)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(6):
        current_loss = 0.0
        for inputs, targets in trainloader:
            optimizer.zero_grad()
            loss = loss_function(model(inputs), targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
    correct, total = 0, 0
    model.eval()
    with torch.no_grad():
        for inputs, targets in testloader:
            _, predicted = torch.max(model(inputs).data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    results[fold] = 100.0 * correct / total
    print("fold %d: train loss %.3f, accuracy %.1f %%" % (fold, current_loss / len(trainloader), results[fold]))

print("average: %.1f %%" % np.mean(list(results.values())))
