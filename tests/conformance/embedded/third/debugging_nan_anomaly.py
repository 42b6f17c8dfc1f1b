"""Find the sources of NaNs and in-place errors with anomaly mode, finite checks and safe rewrites."""
import warnings

import torch
import torch.nn as nn

torch.manual_seed(0)
warnings.simplefilter("ignore")


def unstable(x):
    return torch.sqrt(x).sum()


# 1. infinite gradient at zero
x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
unstable(x).backward()
print("1. grad", x.grad.tolist())

# 2. nan through torch.where
x = torch.tensor([0.0, 2.0], requires_grad=True)
y = torch.where(x > 0, torch.log(x) * x, torch.zeros_like(x))
y.sum().backward()
print("2. naive where", ["%.4f" % g for g in x.grad.tolist()])
x.grad = None
safe = torch.where(x > 0, x, torch.ones_like(x))
torch.where(x > 0, torch.log(safe) * safe, torch.zeros_like(x)).sum().backward()
print("   double where", ["%.4f" % g for g in x.grad.tolist()])

# 3. anomaly detection names the backward function
x = torch.tensor([-1.0], requires_grad=True)
try:
    with torch.autograd.detect_anomaly():
        torch.sqrt(x).backward()
except RuntimeError as e:
    print("3.", str(e).splitlines()[0])

# 4. in-place modification of something needed for the backward pass
a = torch.randn(3, requires_grad=True)
b = a.exp()
b += 1
try:
    b.sum().backward()
except RuntimeError as e:
    print("4.", str(e)[:77])

# 5. backward twice
w = torch.ones(2, requires_grad=True)
out = (w * w).sum()
out.backward()
try:
    out.backward()
except RuntimeError as e:
    print("5.", str(e).split(" (")[0])

# 6. wrong shapes
try:
    nn.Linear(3, 2)(torch.randn(4, 5))
except RuntimeError as e:
    print("6.", e)

# 7. leaf variable in place
try:
    w.add_(1)
except RuntimeError as e:
    print("7.", e)

# 8. numerically stable alternatives
big = torch.tensor([1000.0, 1001.0])
print("8. naive", torch.log(torch.exp(big).sum()).item(), "logsumexp %.4f" % torch.logsumexp(big, 0))
print("   log1p %.4e vs %.4e" % (torch.log1p(torch.tensor(1e-10)), torch.log(1 + torch.tensor(1e-10))))
bad = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])
print("   nan_to_num", torch.nan_to_num(bad, nan=0.0, posinf=9.0, neginf=-9.0).tolist(), "nanmean %.1f" % bad[:2].nanmean())
