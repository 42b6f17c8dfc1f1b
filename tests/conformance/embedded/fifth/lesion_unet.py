"""Segments bright round lesions in synthetic noisy scans with a two-level U-Net and a Dice loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def make_scans(n, size=24):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx = torch.randint(6, size - 6, (n, 1, 1))
    cy = torch.randint(6, size - 6, (n, 1, 1))
    r = torch.randint(3, 6, (n, 1, 1))
    masks = ((xx - cx) ** 2 + (yy - cy) ** 2 <= r ** 2).float()
    scans = 0.8 * masks + 0.35 * torch.randn(n, size, size)
    return scans.unsqueeze(1), masks.unsqueeze(1)


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.enc1 = double_conv(1, base)
        self.enc2 = double_conv(base, base * 2)
        self.bottom = double_conv(base * 2, base * 4)
        self.up2 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.dec2 = double_conv(base * 4, base * 2)
        self.up1 = nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.dec1 = double_conv(base * 2, base)
        self.final = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        b = self.bottom(F.max_pool2d(e2, 2))
        d2 = self.dec2(torch.cat([self.up2(b), e2], dim=1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], dim=1))
        return self.final(d1)


def dice_loss(logits, target, eps=1.0):
    p = torch.sigmoid(logits)
    inter = (p * target).sum(dim=(1, 2, 3))
    denom = p.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
    return (1 - (2 * inter + eps) / (denom + eps)).mean()


def hard_dice(logits, target):
    p = (logits > 0).float()
    return (2 * (p * target).sum() / (p.sum() + target.sum())).item()


x, y = make_scans(48)
xv, yv = make_scans(16)
model = UNet()
print("parameters:", sum(p.numel() for p in model.parameters()))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(1, 7):
    model.train()
    perm = torch.randperm(len(x))
    running = 0.0
    for idx in perm.split(16):
        logits = model(x[idx])
        loss = dice_loss(logits, y[idx]) + F.binary_cross_entropy_with_logits(logits, y[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        val = model(xv)
    print(f"epoch {epoch} loss {running / len(x):.4f} val dice-loss {dice_loss(val, yv).item():.4f} "
          f"hard dice {hard_dice(val, yv):.3f}")
