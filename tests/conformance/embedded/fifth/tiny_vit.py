"""A very small vision transformer that says in which quadrant of an image the odd patch is, with its attention."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(10)


class PatchEmbed(nn.Module):
    def __init__(self, img=16, patch=4, dim=32):
        super().__init__()
        self.n = (img // patch) ** 2
        self.proj = nn.Conv2d(1, dim, kernel_size=patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        h = self.ln1(x)
        a, self.weights = self.attn(h, h, h, need_weights=True, average_attn_weights=True)
        x = x + a
        return x + self.mlp(self.ln2(x))


class ViT(nn.Module):
    def __init__(self, classes=4, dim=32, depth=2, heads=4):
        super().__init__()
        self.patch = PatchEmbed(dim=dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(0.5 * torch.randn(1, self.patch.n + 1, dim))
        self.blocks = nn.ModuleList([EncoderBlock(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)
        nn.init.trunc_normal_(self.cls, std=0.02)

    def forward(self, x):
        t = self.patch(x)
        t = torch.cat([self.cls.expand(len(x), -1, -1), t], dim=1) + self.pos
        for b in self.blocks:
            t = b(t)
        return self.head(self.norm(t[:, 0]))


def make(n):
    # background: grey; odd patch: horizontal lines
    img = torch.full((n, 16, 16), 0.5)
    lines = (torch.arange(4) % 2).float()[:, None].expand(4, 4)
    where = torch.randint(0, 4, (n, 2))
    for i, (r, c) in enumerate(where.tolist()):
        img[i, 4 * r:4 * r + 4, 4 * c:4 * c + 4] = lines
    img = img + 0.1 * torch.randn_like(img)
    label = 2 * (where[:, 0] // 2) + where[:, 1] // 2
    return img.unsqueeze(1) - 0.5, label, where


x, y, _ = make(256)
xt, yt, wt = make(64)
vit = ViT()
print("tokens", tuple(vit.patch(x[:2]).shape), "parameters", sum(p.numel() for p in vit.parameters()))
opt = torch.optim.AdamW(vit.parameters(), lr=2e-3, weight_decay=0.01)
for epoch in range(8):
    vit.train()
    for idx in torch.randperm(256).split(64):
        loss = F.cross_entropy(vit(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    vit.eval()
    with torch.no_grad():
        out = vit(xt)
    print(f"epoch {epoch + 1}: train {loss.item():.4f}  test {F.cross_entropy(out, yt).item():.4f}  "
          f"acc {(out.argmax(1) == yt).float().mean().item():.3f}")
att = vit.blocks[-1].weights[:, 0, 1:]                 # class token looks at the patches
odd = att.gather(1, (4 * wt[:, :1] + wt[:, 1:]))
print("attention of the class token on the odd patch: %.3f (uniform %.3f)" % (odd.mean(), 1 / 17))
print(torch.round(att[0].view(4, 4), decimals=2))
