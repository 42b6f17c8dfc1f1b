"""A two level U-Net that segments discs in noisy pictures, trained with BCE plus dice loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    """(conv => BN => ReLU) * 2"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class UNet(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.d1 = DoubleConv(1, base)
        self.d2 = DoubleConv(base, base * 2)
        self.bottom = DoubleConv(base * 2, base * 4)
        self.up2 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.u2 = DoubleConv(base * 4, base * 2)
        self.up1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.u1 = DoubleConv(base * 3, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        c1 = self.d1(x)
        c2 = self.d2(F.max_pool2d(c1, 2))
        b = self.bottom(F.max_pool2d(c2, 2))
        x = self.u2(torch.cat([self.up2(b), c2], dim=1))
        x = self.u1(torch.cat([self.up1(x), c1], dim=1))
        return self.out(x)


def dice_coef(pred, target, smooth=1.0):
    inter = (pred * target).sum(dim=(1, 2, 3))
    return ((2 * inter + smooth) / (pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3)) + smooth)).mean()


def get_batch(n, size=16):
    ys = torch.arange(size).view(1, size, 1)
    xs = torch.arange(size).view(1, 1, size)
    cy, cx = torch.randint(4, 12, (2, n, 1, 1))
    r = torch.randint(2, 5, (n, 1, 1))
    mask = (((ys - cy) ** 2 + (xs - cx) ** 2) <= r ** 2).float().unsqueeze(1)
    return mask + 0.5 * torch.randn(n, 1, size, size), mask


torch.manual_seed(0)
net = UNet()
optimizer = torch.optim.RMSprop(net.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(30):
    x, m = get_batch(8)
    logits = net(x)
    loss = bce(logits, m) + 1 - dice_coef(torch.sigmoid(logits), m)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("step %d: loss %.3f" % (step + 1, loss.item()))

net.eval()
with torch.no_grad():
    x, m = get_batch(16)
    hard = (net(x) > 0).float()
    iou = ((hard * m).sum() / ((hard + m) > 0).float().sum()).item()
    print("input", tuple(x.shape), "output", tuple(hard.shape))
    print("dice %.3f iou %.3f" % (dice_coef(hard, m).item(), iou))
    thr = (x > 0.5).float()
    print("threshold baseline dice %.3f" % dice_coef(thr, m).item())
