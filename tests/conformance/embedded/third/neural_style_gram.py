"""Optimise the pixels of an image so that its Gram matrices under a random conv net match those of a striped texture."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 10, 3, padding=1)])
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        feats = []
        for conv in self.convs:
            x = F.relu(conv(x))
            feats.append(x)
            x = F.avg_pool2d(x, 2)
        return feats


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b, c, h * w)
    return torch.bmm(f, f.transpose(1, 2)) / (c * h * w)


def total_variation(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().mean() + (img[..., :, 1:] - img[..., :, :-1]).abs().mean()


torch.manual_seed(2)
net = Features().eval()
stripes = (torch.arange(16) // 2 % 2).float().expand(16, 16).reshape(1, 1, 16, 16)
style = [gram(f) for f in net(stripes)]
content = torch.zeros(1, 1, 16, 16)
content[..., 4:12, 4:12] = 1
content_feat = net(content)[1]

img = content.clone().requires_grad_(True)
opt = torch.optim.Adam([img], lr=0.05)
for step in range(41):
    feats = net(img)
    s_loss = sum(F.mse_loss(gram(f), g) for f, g in zip(feats, style)) * 1e3
    c_loss = F.mse_loss(feats[1], content_feat)
    loss = s_loss + c_loss + 0.01 * total_variation(img)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        img.clamp_(0, 1)
    if step % 10 == 0:
        print(f"{step:2d} style {s_loss.item():.3f} content {c_loss.item():.3f}")

print("image shape", list(img.shape), "mean %.2f" % img.mean().item())
print("network got no gradient:", all(p.grad is None for p in net.parameters()))
