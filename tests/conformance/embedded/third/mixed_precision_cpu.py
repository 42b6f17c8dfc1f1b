"""Train the same classifier in float32 and with bfloat16 autocast on the CPU and compare dtypes and accuracy."""
import torch
from torch import nn


def data(n=256):
    g = torch.Generator().manual_seed(99)
    x = torch.randn(n, 10, generator=g)
    y = ((x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long())
    return x, y


def train(use_amp: bool, steps: int = 60):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 3))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x, y = data()
    for _ in range(steps):
        opt.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=use_amp):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        opt.step()
    acc = (logits.argmax(1) == y).float().mean().item()
    return model, logits.dtype, loss, acc


for amp in (False, True):
    model, dt, loss, acc = train(amp)
    print(f"amp={amp!s:5s} logits {dt} loss {loss.dtype} weights {model[0].weight.dtype}")
    print(f"   loss {loss.item():.1f} acc {acc:.1f}")

with torch.autocast("cpu", dtype=torch.bfloat16):
    a, b = torch.randn(4, 4), torch.randn(4, 4)
    print("matmul:", (a @ b).dtype, "add:", (a + b).dtype, "softmax:", torch.softmax(a @ b, -1).dtype)
    with torch.autocast("cpu", enabled=False):
        print("inside a disabled region:", (a @ b).dtype)

big = torch.tensor(3.14159265)
print("bf16 %.6f fp16 %.6f" % (big.bfloat16().item(), big.half().item()))
for d in (torch.float32, torch.bfloat16, torch.float16):
    info = torch.finfo(d)
    print(f"{d}: eps {info.eps:.2e} max {info.max:.3e}")
