"""Debugging session: find NaNs with anomaly detection and hooks, in-place errors, and classic gradient pitfalls."""
import warnings

import torch
import torch.nn as nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)

# --- pitfall 1: sqrt at zero
x = torch.tensor([4.0, 0.0], requires_grad=True)
torch.sqrt(x).mul(torch.tensor([1.0, 0.0])).sum().backward()
print("grad of masked sqrt:", x.grad.tolist())

x = torch.tensor([4.0, 0.0], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
torch.where(x > 0, torch.sqrt(safe), torch.zeros_like(x)).sum().backward()
print("double where trick: ", x.grad.tolist())

# --- pitfall 2: log(softmax) against log_softmax
z = torch.tensor([0.0, 200.0])
print("naive", torch.log(torch.softmax(z, 0)).tolist(), "stable", torch.log_softmax(z, 0).tolist())

# --- anomaly mode names the guilty function
w = torch.tensor([-1.0], requires_grad=True)
try:
    with torch.autograd.set_detect_anomaly(True):
        torch.log(torch.relu(w) * 0 + w).sum().backward()
    print("log of negative: no NaN in backward, grad", w.grad.tolist())
    with torch.autograd.detect_anomaly():
        y = torch.sqrt(torch.relu(w)) * 0
        y.sum().backward()
except RuntimeError as e:
    print("anomaly:", str(e))

# --- in-place modification
a = torch.ones(3, requires_grad=True)
b = a.exp()
try:
    b += 1
    b.sum().backward()
except RuntimeError as e:
    print("in-place:", "modified by an inplace operation" in str(e))
try:
    a += 1
except RuntimeError as e:
    print("leaf:", e)

# --- backward twice
c = (a * a).sum()
c.backward()
try:
    c.backward()
except RuntimeError as e:
    print("twice:", str(e)[:49])
print("grads accumulate:", a.grad.tolist())


# --- a hook that reports the first bad layer
class BadLayer(nn.Module):
    def forward(self, x):
        return x / (x - x.max())


model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), BadLayer(), nn.Linear(4, 2))
found = []


def check(name):
    def hook(module, args, output):
        if not torch.isfinite(output).all():
            found.append((name, type(module).__name__))
    return hook


for name, m in model.named_children():
    m.register_forward_hook(check(name))
model(torch.randn(3, 4))
print("first bad layer:", found[0])

# --- detach, no_grad, requires_grad
p = torch.ones(2, requires_grad=True)
q = p * 2
with torch.no_grad():
    r = p * 2
print(q.requires_grad, r.requires_grad, q.detach().requires_grad, q.is_leaf, p.is_leaf)
q.retain_grad()
(q ** 2).sum().backward()
print("q.grad", q.grad.tolist(), "p.grad", p.grad.tolist())
print(torch.nan_to_num(torch.tensor([float("nan"), float("inf"), -1.0]), nan=0.0, posinf=9.0).tolist())
