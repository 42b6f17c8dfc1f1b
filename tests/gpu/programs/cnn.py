"""A small convolutional network, trained for four steps."""
import torch
from marks import mark

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8 * 16 * 16, 10)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(16, 3, 32, 32).cuda()
    y = torch.randint(0, 10, (16,)).cuda()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    mark()
print(step, torch.isfinite(loss).item())
