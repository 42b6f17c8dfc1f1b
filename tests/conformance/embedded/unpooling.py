"""Pictures made small and large again: places of the largest elements, small transposed convolutions, channels shuffled."""
import torch
from torch import nn

torch.manual_seed(11)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv2d(2, 4, 3, padding=1)
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
        self.shuffle, self.up = nn.ChannelShuffle(2), nn.ConvTranspose2d(4, 2, 2, stride=2)

    def forward(self, x):
        x = torch.relu(self.inner(x))
        small, places = self.pool(x)
        return self.up(self.shuffle(self.unpool(small, places, output_size=x.size())))


net = Net()
x = torch.randn(1, 2, 5, 4)
out = net(x)
out.square().mean().backward()
print(out.shape, out.mean().item(), [round(p.grad.norm().item(), 5) for p in net.parameters()])
line, places = nn.functional.max_pool1d(torch.arange(8.0).view(1, 1, 8).sin(), 2, return_indices=True)
print(places, nn.functional.max_unpool1d(line, places, 2))
y = nn.functional.dropout(torch.ones(6), 0.5, True, inplace=True)
z = nn.functional.feature_alpha_dropout(torch.ones(2, 3, 2), 0.5, True)
print(y, z)
