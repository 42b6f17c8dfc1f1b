# Tiny U-Net segmenting random discs, trained with BCE + soft Dice, reports IoU.
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_discs(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx = torch.randint(4, size - 4, (n, 1, 1))
    cy = torch.randint(4, size - 4, (n, 1, 1))
    rad = torch.randint(2, 5, (n, 1, 1))
    mask = ((xx - cx) ** 2 + (yy - cy) ** 2 <= rad ** 2).float().unsqueeze(1)
    img = mask * 0.8 + 0.3 * torch.randn(n, 1, size, size)
    return img, mask


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.InstanceNorm2d(cout, affine=True),
        nn.PReLU(),
    )


class UNet(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.down1 = double_conv(1, base)
        self.down2 = double_conv(base, base * 2)
        self.pool = nn.MaxPool2d(2)
        self.mid = nn.Conv2d(base * 2, base * 2, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(base * 2, base, kernel_size=2, stride=2)
        self.dec = double_conv(base * 2, base)
        self.head = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        s1 = self.down1(x)
        x = self.down2(self.pool(s1))
        x = F.relu(self.mid(x), inplace=True)
        x = self.up(x)
        x = self.dec(torch.cat([x, s1], dim=1))
        return self.head(x)


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        p = torch.sigmoid(logits).flatten(1)
        t = target.flatten(1)
        inter = (p * t).sum(1)
        return (1 - (2 * inter + self.smooth) / (p.sum(1) + t.sum(1) + self.smooth)).mean()


def iou(logits, target):
    pred = logits > 0
    t = target.bool()
    inter = (pred & t).sum((1, 2, 3)).float()
    union = (pred | t).sum((1, 2, 3)).float()
    return (inter / union.clamp(min=1)).mean()


torch.manual_seed(31)
img, mask = make_discs(12)
val_img, val_mask = make_discs(6)
print("foreground: %.4f" % mask.mean())
model = UNet()
for m in model.modules():
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
print("params:", {n: sum(p.numel() for p in c.parameters()) for n, c in model.named_children()})
bce, dice = nn.BCEWithLogitsLoss(), DiceLoss()
opt = torch.optim.Adam(model.parameters(), lr=2e-2)
for epoch in range(8):
    model.train()
    out = model(img)
    loss = bce(out, mask) + dice(out, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")

with torch.no_grad():
    logits = model.eval()(val_img)
print(f"val dice loss {dice(logits, val_mask).item():.4f} val IoU {iou(logits, val_mask).item():.4f}")
best = (torch.sigmoid(logits[0, 0]) > 0.5).int()
for row in best[::2]:
    print("".join(".#"[v] for v in row.tolist()))
