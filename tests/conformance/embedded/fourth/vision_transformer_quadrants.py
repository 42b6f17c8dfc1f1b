"""A mini vision transformer that tells in which quadrant of an image a bright blob lies."""
import torch
import torch.nn as nn


class PatchEmbed(nn.Module):
    def __init__(self, img=16, patch=4, dim=32):
        super().__init__()
        self.num = (img // patch) ** 2
        self.proj = nn.Conv2d(1, dim, kernel_size=patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    def __init__(self, dim=32, depth=1, heads=4, classes=4):
        super().__init__()
        self.patch = PatchEmbed(dim=dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, self.patch.num + 1, dim) * 0.3)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, dropout=0.0,
                                           activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch(x)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.encoder(x)[:, 0]))


def blobs(n):
    yy, xx = torch.meshgrid(torch.arange(16.), torch.arange(16.), indexing="ij")
    centre = torch.rand(n, 2) * 15
    d2 = (yy - centre[:, 0, None, None]) ** 2 + (xx - centre[:, 1, None, None]) ** 2
    img = torch.exp(-d2 / 4) + 0.1 * torch.randn(n, 16, 16)
    label = (centre[:, 0] > 7.5).long() * 2 + (centre[:, 1] > 7.5).long()
    return img.unsqueeze(1), label


torch.manual_seed(0)
model = ViT()
print("tokens:", model.patch.num + 1)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=3e-3, total_steps=64)
crit = nn.CrossEntropyLoss(label_smoothing=0.05)
for step in range(64):
    x, y = blobs(32)
    loss = crit(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 16 == 15:
        print(f"step {step + 1}: loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    x, y = blobs(200)
    acc = (model(x).argmax(1) == y).float().mean()
print(f"test accuracy {acc:.3f}")
