"""Train a tiny convolutional network to tell apart three drawn shapes in 12x12 images."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def draw(kind, size=12):
    img = torch.zeros(size, size)
    r = int(torch.randint(2, size - 3, (1,)))
    c = int(torch.randint(2, size - 3, (1,)))
    if kind == 0:  # horizontal bar
        img[r, :] = 1
    elif kind == 1:  # vertical bar
        img[:, c] = 1
    else:  # small square
        img[r - 1:r + 2, c - 1:c + 2] = 1
    return img + 0.2 * torch.randn(size, size)


def make_set(n):
    labels = torch.arange(n) % 3
    images = torch.stack([draw(int(k)) for k in labels]).unsqueeze(1)
    return images, labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 3 * 3, 32)
        self.fc2 = nn.Linear(32, 3)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(-1, 16 * 3 * 3)
        x = self.drop(F.relu(self.fc1(x)))
        return self.fc2(x)


def main():
    x_train, y_train = make_set(150)
    x_test, y_test = make_set(60)
    net = Net()
    print(net)
    print("parameters:", sum(p.numel() for p in net.parameters() if p.requires_grad))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(8):
        perm = torch.randperm(len(x_train))
        total, correct = 0.0, 0
        net.train()
        for i in range(0, len(perm), 30):
            idx = perm[i:i + 30]
            out = net(x_train[idx])
            loss = F.cross_entropy(out, y_train[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            correct += (out.argmax(1) == y_train[idx]).sum().item()
        print("Epoch %d loss %.3f acc %.2f" % (epoch + 1, total / 5, correct / len(x_train)))

    net.eval()
    with torch.no_grad():
        pred = net(x_test).argmax(dim=1)
    conf = torch.zeros(3, 3, dtype=torch.long)
    for t, p in zip(y_test, pred):
        conf[t, p] += 1
    print("confusion matrix\n", conf)


if __name__ == "__main__":
    main()
