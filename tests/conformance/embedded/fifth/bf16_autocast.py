"""Tries mixed precision on the CPU: which operations autocast runs in bfloat16 and what it does to training."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(16)

a, b = torch.randn(6, 6), torch.randn(6, 6)
print("outside:", (a @ b).dtype)
with torch.autocast("cpu", dtype=torch.bfloat16):
    c = a @ b
    print("mm      ", c.dtype)
    print("relu    ", F.relu(c).dtype)
    print("softmax ", c.softmax(-1).dtype)
    print("sum     ", c.sum().dtype)
    print("mm + f32", (c + a).dtype)
    print("mse     ", F.mse_loss(c, a.bfloat16()).dtype)
    print("conv    ", F.conv1d(a[None], b[:, :, None]).dtype)
    with torch.autocast("cpu", enabled=False):
        print("island  ", (c.float() @ a).dtype)
print("error of the product: %.1f%%" % (100 * (c.float() - a @ b).norm() / (a @ b).norm()))

info = torch.finfo(torch.bfloat16)
print("bf16: eps %g, largest %.3g, bits %d" % (info.eps, info.max, info.bits))
print("1 + 1/512 in bf16 =", (torch.tensor(1.0, dtype=torch.bfloat16) + 1 / 512).item())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 5, padding=2)
        self.fc = nn.Linear(8, 3)
        self.seen = set()

    def forward(self, x):
        h = F.relu(self.conv(x))
        self.seen.add(h.dtype)
        return self.fc(h.mean(-1))


def data(n):
    y = torch.randint(0, 3, (n,))
    f = torch.tensor([1.0, 2.0, 4.0])[y][:, None]
    x = torch.sin(f * torch.linspace(0, 6.28, 32) + 6.28 * torch.rand(n, 1))
    return x.unsqueeze(1), y


x, y = data(128)
for mode in ("float32", "autocast", "pure bf16"):
    torch.manual_seed(1)
    net = Net()
    if mode == "pure bf16":
        net = net.bfloat16()
    opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
    for _ in range(25):
        opt.zero_grad()
        inp = x.bfloat16() if mode == "pure bf16" else x
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mode == "autocast"):
            loss = F.cross_entropy(net(inp), y)
        loss.backward()
        opt.step()
    grads = sorted({str(p.grad.dtype) for p in net.parameters()})
    acts = sorted(map(str, net.seen))
    acc = (net.float()(x).argmax(1) == y).float().mean()
    print(f"{mode:10s} activations {acts} loss {loss.item():.2f} accuracy {acc:.2f} grads {grads}")
