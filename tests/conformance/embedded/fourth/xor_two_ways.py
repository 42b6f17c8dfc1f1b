"""Learn XOR with a tiny MLP, once with MSE and sigmoid, once with BCEWithLogitsLoss."""
import torch
from torch import nn

X = torch.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]])
Y = torch.tensor([[0.], [1.], [1.], [0.]])


def train(net, criterion, lr, steps):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for step in range(steps):
        opt.zero_grad()
        loss = criterion(net(X), Y)
        loss.backward()
        opt.step()
        if (step + 1) % (steps // 4) == 0:
            print("  step %4d loss %.4f" % (step + 1, loss.item()))
    return net


torch.manual_seed(42)
print("sigmoid output + MSE")
net1 = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
train(net1, nn.MSELoss(), 0.5, 400)
with torch.no_grad():
    print("  predictions", [round(v, 2) for v in net1(X).flatten().tolist()])

torch.manual_seed(42)
print("logits + BCEWithLogits")
net2 = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
train(net2, nn.BCEWithLogitsLoss(), 0.5, 400)
with torch.no_grad():
    p = torch.sigmoid(net2(X))
    print("  predictions", [round(v, 2) for v in p.flatten().tolist()])
    print("  correct:", int(((p > 0.5) == Y.bool()).sum()), "of 4")

n_params = sum(p.numel() for p in net2.parameters())
print("parameters:", n_params)
