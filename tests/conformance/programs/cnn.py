"""A small convolutional network: batch norm in training and in evaluation, pooling, dropout, Adam, a state dict round trip."""
import io

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Sequential(
    nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
    nn.Conv2d(4, 8, 3, stride=2), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(8, 5))
x, target = torch.randn(4, 3, 12, 12), torch.tensor([0, 3, 1, 4])
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), target, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    schedule.step()
    print(loss.item().hex())

net.eval()
with torch.inference_mode():
    before = net(x)
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
net.load_state_dict(torch.load(file))
with torch.no_grad():
    after = net(x)
print(torch.equal(before, after), after.tolist())
