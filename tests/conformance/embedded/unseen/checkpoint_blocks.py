# Residual conv blocks with activation checkpointing; gradients must equal the plain run.
import copy
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(5)

CALLS = {"n": 0}


class ResBlock(nn.Module):
    def __init__(self, ch, p=0.1):
        super().__init__()
        self.norm1 = nn.GroupNorm(4, ch)
        self.conv1 = nn.Conv1d(ch, ch, 3, padding=1, padding_mode="circular")
        self.norm2 = nn.GroupNorm(4, ch)
        self.conv2 = nn.Conv1d(ch, ch, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        CALLS["n"] += 1
        h = self.conv1(torch.nn.functional.silu(self.norm1(x)))
        h = self.conv2(self.drop(torch.nn.functional.mish(self.norm2(h))))
        return x + h


class Net(nn.Module):
    def __init__(self, ch=8, depth=2, use_ckpt=False):
        super().__init__()
        self.stem = nn.Conv1d(2, ch, 5, padding="same")
        self.blocks = nn.ModuleList(ResBlock(ch) for _ in range(depth))
        self.head = nn.Sequential(nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(ch, 1))
        self.use_ckpt = use_ckpt

    def forward(self, x):
        x = self.stem(x)
        for blk in self.blocks:
            if self.use_ckpt and self.training:
                x = checkpoint(blk, x, use_reentrant=False)
            else:
                x = blk(x)
        return self.head(x)


plain = Net()
ckpt = copy.deepcopy(plain)
ckpt.use_ckpt = True

x = torch.randn(6, 2, 20)
y = x[:, 0].mean(1, keepdim=True) * 3


def step(net):
    CALLS["n"] = 0
    torch.manual_seed(100)               # same dropout masks in both runs
    loss = nn.functional.mse_loss(net(x), y)
    fwd = CALLS["n"]
    loss.backward()
    return loss.item(), fwd, CALLS["n"]


for name, net in [("plain", plain), ("checkpointed", ckpt)]:
    loss, f, total = step(net)
    print(f"{name:12s} loss {loss:.4f} block calls forward {f} total {total}")

worst = max((p.grad - q.grad).abs().max().item() for p, q in zip(plain.parameters(), ckpt.parameters()))
print("gradients equal:", worst < 1e-6)

opt = torch.optim.Adamax(ckpt.parameters(), lr=0.02)
for i in range(4):
    opt.zero_grad()
    loss = nn.functional.l1_loss(ckpt(x), y)
    loss.backward()
    opt.step()
    print(f"step {i} loss {loss.item():.4f}")

# sequential variant
seq = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
inp = torch.randn(3, 4, requires_grad=True)
out = checkpoint_sequential(seq, 2, inp, use_reentrant=False)
out.pow(2).sum().backward()
g1 = inp.grad.clone()
inp.grad = None
seq(inp).pow(2).sum().backward()
print("sequential grads equal:", torch.allclose(g1, inp.grad))

ckpt.eval()
with torch.no_grad():
    print("eval output:", ckpt(x).flatten())
