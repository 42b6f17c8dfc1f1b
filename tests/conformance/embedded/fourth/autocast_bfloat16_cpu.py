"""Train the same network in float32 and under CPU autocast with bfloat16 and look at the dtypes."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 4))


gen = torch.Generator().manual_seed(9)
X = torch.randn(256, 16, generator=gen)
W = torch.randn(16, 4, generator=gen)
Y = (X @ W).argmax(1)


def train(use_amp):
    model = make()
    opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for step in range(40):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=use_amp):
            logits = model(X)
            loss = F.cross_entropy(logits, Y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"  step {step:2d} loss {loss.item():.2f} logits {logits.dtype} loss {loss.dtype}")
    with torch.no_grad():
        acc = (model(X).argmax(1) == Y).float().mean().item()
    return model, acc


print("float32")
m32, a32 = train(False)
print("bfloat16 autocast")
m16, a16 = train(True)
print("accuracies above 0.9:", a32 > 0.9, a16 > 0.9)
print("weights stay", m16[0].weight.dtype, "grads", m16[0].weight.grad.dtype)

# which operations change type inside autocast
a, b = torch.randn(4, 4), torch.randn(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print("mm", (a @ b).dtype)
    print("add", (a + b).dtype)
    print("mm + float", ((a @ b) + a).dtype)
    print("softmax of mm", (a @ b).softmax(-1).dtype)
    with torch.autocast("cpu", enabled=False):
        print("mm in a disabled region", (a @ b).dtype)

# precision of the types
for dt in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
    info = torch.finfo(dt)
    third = torch.tensor(1 / 3, dtype=dt)
    print(f"{str(dt):15s} eps {info.eps:.2e} max {info.max:.2e} 1/3 = {third.item():.6f}")
x = torch.full((1000,), 0.01, dtype=torch.bfloat16)
acc = torch.tensor(0.0, dtype=torch.bfloat16)
for v in x:
    acc = acc + v
print("naive bf16 sum %.2f, float sum %.2f" % (acc.item(), x.float().sum().item()))

# a half precision copy for inference
half = make().to(torch.bfloat16)
half.load_state_dict(m32.state_dict())
with torch.inference_mode():
    agree = (half(X.bfloat16()).argmax(1) == m32(X).argmax(1)).float().mean().item()
print("bf16 copy agrees on more than 95%%: %s" % (agree > 0.95))
