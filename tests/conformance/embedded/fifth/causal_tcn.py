"""Builds a dilated causal convolution network with weight norm, checks by gradients that it can't see the future, and trains it on the copy-memory task."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(1)


class CausalConv(nn.Conv1d):
    def __init__(self, cin, cout, k, dilation):
        super().__init__(cin, cout, k, dilation=dilation)
        self.left = (k - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class TemporalBlock(nn.Module):
    def __init__(self, cin, cout, k, dilation):
        super().__init__()
        self.c1 = weight_norm(CausalConv(cin, cout, k, dilation))
        self.c2 = weight_norm(CausalConv(cout, cout, k, dilation))
        self.skip = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x):
        h = F.relu(self.c1(x))
        h = F.relu(self.c2(h))
        return F.relu(h + self.skip(x))


class TCN(nn.Module):
    def __init__(self, n_sym, width=16, k=3, levels=3):
        super().__init__()
        self.n_sym = n_sym
        blocks = [TemporalBlock(n_sym if i == 0 else width, width, k, 2 ** i) for i in range(levels)]
        self.blocks = nn.Sequential(*blocks)
        self.out = nn.Conv1d(width, n_sym, 1)
        self.receptive = 1 + 2 * (k - 1) * (2 ** levels - 1)

    def forward(self, ids):
        x = F.one_hot(ids, self.n_sym).float().transpose(1, 2)
        return self.out(self.blocks(x))

    def from_soft(self, x):
        return self.out(self.blocks(x))


net = TCN(n_sym=6)
print("receptive field:", net.receptive)
print("parameters of one conv:", [n for n, _ in net.blocks[0].c1.named_parameters()])

# leak check: gradient of output at time 30 with respect to all inputs
probe = torch.randn(1, 6, 48, requires_grad=True)
net.from_soft(probe)[0, :, 30].sum().backward()
reached = probe.grad.abs().sum((0, 1)).nonzero().flatten()
print("output 30 depends on inputs %d..%d" % (reached.min(), reached.max()))


def copy_task(n, length=3, gap=4):
    data = torch.randint(1, 5, (n, length))
    x = torch.zeros(n, 2 * length + gap, dtype=torch.long)
    x[:, :length] = data
    x[:, length + gap - 1:] = 5            # marker: repeat now
    y = torch.zeros_like(x)
    y[:, -length:] = data
    return x, y


opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(48):
    x, y = copy_task(32)
    loss = F.cross_entropy(net(x)[..., -3:], y[:, -3:])     # only the copied part counts
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 12 == 11:
        print(f"step {step + 1:3d} loss {loss.item():.4f}")
with torch.no_grad():
    x, y = copy_task(100)
    acc = (net(x).argmax(1)[:, -3:] == y[:, -3:]).float().mean()
print("copied symbols right: %.3f (blind guess 0.25)" % acc)
