"""Answers a forum question: is gradient accumulation really the same as one large batch, with and without BatchNorm?"""
import copy
import torch
import torch.nn as nn

torch.manual_seed(123)

x = torch.randn(32, 10)
y = torch.randn(32, 1)


def grads(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def big_batch(model):
    model = copy.deepcopy(model)
    nn.functional.mse_loss(model(x), y).backward()
    return grads(model)


def accumulated(model, sizes, mode):
    model = copy.deepcopy(model)
    for xb, yb in zip(x.split(sizes), y.split(sizes)):
        loss = nn.functional.mse_loss(model(xb), yb)
        if mode == "divide by number of chunks":
            loss = loss / len(sizes)
        elif mode == "weight by chunk size":
            loss = loss * len(xb) / len(x)
        loss.backward()      # adds to .grad
    return grads(model)


plain = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
layer = nn.Sequential(nn.Linear(10, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 1))
batch = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 1))

modes = ["nothing", "divide by number of chunks", "weight by chunk size"]
for name, model in [("no norm", plain), ("LayerNorm", layer), ("BatchNorm", batch)]:
    ref = big_batch(model)
    print(f"{name}: |grad| of the large batch {ref.norm():.4f}")
    for sizes in ([8, 8, 8, 8], [12, 12, 8]):
        for mode in modes:
            g = accumulated(model, sizes, mode)
            rel = ((g - ref).norm() / ref.norm()).item()
            print(f"   chunks {str(sizes):14s} {mode:28s} relative error {rel:.3f}"
                  + ("   <- equal" if rel < 1e-4 else ""))

# In eval mode batch norm uses running statistics, and then it is equal again:
batch.eval()
ref = big_batch(batch)
g = accumulated(batch, [8, 8, 8, 8], modes[1])
print("BatchNorm in eval mode equal:", torch.allclose(g, ref, atol=1e-5))

# The running statistics differ too: four updates instead of one
batch.train()
a, b = copy.deepcopy(batch), copy.deepcopy(batch)
a(x)
for xb in x.split(8):
    b(xb)
print("updates seen:", a[1].num_batches_tracked.item(), b[1].num_batches_tracked.item())
print("running_var mean: %.4f vs %.4f" % (a[1].running_var.mean(), b[1].running_var.mean()))
