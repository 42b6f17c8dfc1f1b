"""Shows by Grad-CAM and occlusion where a small CNN looks when it tells horizontal bars from vertical bars."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)


def bars(n):
    x = 0.2 * torch.randn(n, 1, 16, 16)
    y = torch.randint(0, 2, (n,))
    corner = torch.randint(1, 8, (n, 2))
    for i in range(n):
        r, c = corner[i].tolist()
        if y[i] == 0:
            x[i, 0, r:r + 2, c:c + 7] += 1
        else:
            x[i, 0, r:r + 7, c:c + 2] += 1
    return x, y, corner


cnn = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(16, 2),
)
opt = torch.optim.Adam(cnn.parameters(), lr=0.01)
x, y, _ = bars(128)
for i in range(30):
    loss = F.cross_entropy(cnn(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss %.4f" % loss.item())
xt, yt, corner = bars(50)
cnn.eval()
print("test accuracy %.3f" % (cnn(xt).argmax(1) == yt).float().mean())


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.handles = [layer.register_forward_hook(self.keep_activation)]

    def keep_activation(self, module, args, output):
        self.act = output
        output.register_hook(self.keep_gradient)

    def keep_gradient(self, grad):
        self.grad = grad

    def __call__(self, img, cls):
        self.model.zero_grad()
        self.model(img)[0, cls].backward()
        weight = self.grad.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weight * self.act).sum(1, keepdim=True))
        cam = F.interpolate(cam, size=img.shape[-2:], mode="bilinear", align_corners=False)[0, 0]
        return (cam / (cam.max() + 1e-8)).detach()

    def remove(self):
        for h in self.handles:
            h.remove()


def inside(cam, r, c, label):
    box = torch.zeros(16, 16, dtype=torch.bool)
    if label == 0:
        box[r - 1:r + 3, c - 1:c + 8] = True
    else:
        box[r - 1:r + 8, c - 1:c + 3] = True
    return (cam[box].sum() / cam.sum().clamp(min=1e-8)).item(), box.float().mean().item()


cam = GradCAM(cnn, cnn[4])
shares = []
for i in range(8):
    m = cam(xt[i:i + 1], yt[i].item())
    share, area = inside(m, *corner[i].tolist(), yt[i].item())
    shares.append(share)
    print(f"image {i} class {yt[i].item()}: {share:.3f} of the heat in the bar's box (area {area:.3f})")
cam.remove()
print("hooks left:", len(cnn[4]._forward_hooks))

# occlusion: cover 4x4 blocks of image 0 and see how much the logit of its class drops
with torch.no_grad():
    base = cnn(xt[:1])[0, yt[0]]
    drop = torch.zeros(4, 4)
    for r in range(4):
        for c in range(4):
            z = xt[:1].clone()
            z[..., 4 * r:4 * r + 4, 4 * c:4 * c + 4] = 0
            drop[r, c] = base - cnn(z)[0, yt[0]]
print("occlusion drops, largest at block", divmod(drop.argmax().item(), 4), "bar corner", corner[0].tolist())
for row in drop.tolist():
    print(" ".join("%6.1f" % (round(v, 1) + 0.0) for v in row))
