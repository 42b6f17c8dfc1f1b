"""A residual network of two blocks, weight decay only on weights, evaluation."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Sequential()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + self.short(x))


torch.manual_seed(5)
net = nn.Sequential(Block(3, 4), Block(4, 8, 2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(8, 3))
decay = [p for n, p in net.named_parameters() if p.dim() > 1]
rest = [p for n, p in net.named_parameters() if p.dim() <= 1]
opt = torch.optim.SGD([{"params": decay, "weight_decay": 1e-2}, {"params": rest}], lr=0.1, momentum=0.9)
x, y = torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 0])
for _ in range(2):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
net.eval()
with torch.no_grad():
    print(net(x).argmax(1), net[0].bn1.num_batches_tracked.item())
