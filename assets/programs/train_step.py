"""Three iterations of training a two-layer network: forward, loss, backward, SGD step.

Things to look for in the recording: which hop made which autograd node, in which order backward runs
them, and what the optimizer does to the parameters in place.

    train_step.py [--device cpu|cuda]
"""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu", help="where the network lives: cpu (default) or cuda")
device = parser.parse_args().device

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 8).to(device)
target = x.sum(dim=1, keepdim=True)   # what the network should learn

for iteration in range(3):
    optimizer.zero_grad()
    y = net(x)
    loss = nn.functional.mse_loss(y, target)
    loss.backward()
    optimizer.step()
    print(f"iteration {iteration}: loss {loss.item():.6f}")
