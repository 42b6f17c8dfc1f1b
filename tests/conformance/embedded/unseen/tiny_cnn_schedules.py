# Tiny CNN on synthetic stripes (horizontal / vertical / diagonal) with SGD, warmup + cosine schedule, top-k accuracy.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)


def make_images(n, size=12):
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    patterns = torch.stack([(y // 2) % 2, (x // 2) % 2, ((x + y) // 2) % 2]).float()
    labels = torch.randint(0, 3, (n,))
    imgs = patterns[labels].unsqueeze(1)
    flip = torch.rand(n, 1, 1, 1) < 0.5
    imgs = torch.where(flip, imgs.flip(-1), imgs)
    return imgs + 0.4 * torch.randn_like(imgs), labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 12, 3, stride=2, groups=2)
        self.pool = nn.AdaptiveAvgPool2d((2, 2))
        self.drop = nn.Dropout2d(0.1)
        self.fc = nn.Linear(48, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = self.drop(F.elu(self.conv2(x)))
        return self.fc(torch.flatten(self.pool(x), 1))


X, Y = make_images(48)
loader = DataLoader(TensorDataset(X, Y), batch_size=16, shuffle=True)
net = Net()
print(net)
opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, weight_decay=1e-4)
warm = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.25, total_iters=3)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=9)
sched = torch.optim.lr_scheduler.SequentialLR(opt, [warm, cosine], milestones=[3])

for epoch in range(4):
    net.train()
    for xb, yb in loader:
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    print(f"epoch {epoch} loss {loss.item():.4f} lr {opt.param_groups[0]['lr']:.4f}")

net.eval()
with torch.inference_mode():
    Xt, Yt = make_images(30)
    logits = net(Xt)
    top2 = logits.topk(2, dim=1).indices
    print("top1 %.4f" % (top2[:, 0] == Yt).float().mean().item(),
          "top2 %.4f" % (top2 == Yt[:, None]).any(dim=1).float().mean().item())
    print("running mean", net.bn1.running_mean, "batches", net.bn1.num_batches_tracked)
    up = F.interpolate(Xt[:1], scale_factor=0.5, mode="bilinear", align_corners=False)
    print(up.shape, F.avg_pool2d(Xt[:1], 4).squeeze())
    print(F.unfold(Xt[:1], kernel_size=4, stride=4).shape, F.pad(Xt[0, 0, :2, :3], (1, 1), value=-1.0).shape)
    print(nn.ConvTranspose2d(1, 2, 2, stride=2)(Xt[:2]).shape)
