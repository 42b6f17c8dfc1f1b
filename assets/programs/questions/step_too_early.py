"""The second loss can't go backward: a weight that it needs was changed. Which line changed it?"""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(2, 3))
first, second = out.sum(), out.square().sum()
first.backward(retain_graph=True)
optimizer.step()
try:
    second.backward()
except RuntimeError as e:
    print(str(e).split(":")[0])
