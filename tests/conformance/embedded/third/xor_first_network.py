"""Learn XOR with a two layer network, my first neural network in PyTorch."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)

X = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.float32)
Y = torch.tensor([[0], [1], [1], [0]], dtype=torch.float32)


class XORModel(nn.Module):
    def __init__(self):
        super(XORModel, self).__init__()
        self.layer1 = nn.Linear(2, 8)
        self.layer2 = nn.Linear(8, 1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        x = torch.tanh(self.layer1(x))
        x = self.sigmoid(self.layer2(x))
        return x


model = XORModel()
criterion = nn.BCELoss()
optimizer = optim.SGD(model.parameters(), lr=1.0)

for epoch in range(501):
    optimizer.zero_grad()
    output = model(X)
    loss = criterion(output, Y)
    loss.backward()
    optimizer.step()
    if epoch % 100 == 0:
        print("Epoch:", epoch, "Loss: %.4f" % loss.item())

print("Testing")
for x, y in zip(X, Y):
    p = model(x)
    print(x.tolist(), "expected", int(y.item()), "got", int(p.item() > 0.5))
