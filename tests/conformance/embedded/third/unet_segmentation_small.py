"""Segment bright discs in noisy images with a two-level U-Net and a Dice plus BCE loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(),
        nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.down1 = double_conv(1, base)
        self.down2 = double_conv(base, base * 2)
        self.bottom = double_conv(base * 2, base * 4)
        self.up2 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.dec2 = double_conv(base * 4, base * 2)
        self.dec1 = double_conv(base * 3, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        b = self.bottom(F.max_pool2d(d2, 2))
        u2 = self.dec2(torch.cat([self.up2(b), d2], dim=1))
        u1 = F.interpolate(u2, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.dec1(torch.cat([u1, d1], dim=1)))


def discs(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.randint(4, size - 4, (n, 2, 1, 1))
    r = torch.randint(2, 5, (n, 1, 1))
    mask = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 <= r ** 2).float().unsqueeze(1)
    return mask + 0.4 * torch.randn(n, 1, size, size), mask


def dice_loss(logits, target, eps=1.0):
    p = torch.sigmoid(logits)
    inter = (p * target).sum(dim=(1, 2, 3))
    return (1 - (2 * inter + eps) / (p.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3)) + eps)).mean()


def iou(logits, target):
    pred = logits > 0
    t = target.bool()
    return ((pred & t).sum().float() / (pred | t).sum()).item()


net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(21):
    x, m = discs(8)
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, m) + dice_loss(logits, m)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print(f"step {step:2d} loss {loss.item():.3f}")

net.eval()
with torch.no_grad():
    x, m = discs(16)
    print("output", tuple(net(x).shape), "IoU %.2f" % iou(net(x), m))
