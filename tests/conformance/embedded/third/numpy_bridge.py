"""Show how tensors and numpy arrays share memory, convert types and mix in computations."""
import numpy as np
import torch

torch.manual_seed(0)
rng = np.random.default_rng(0)

a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(a)
a[0, 0] = 99
print("shared from_numpy:", t[0, 0].item())

c = torch.tensor(a)          # copy
a[0, 0] = -1
print("copied tensor keeps:", c[0, 0].item(), "| view sees:", t[0, 0].item())

n = t.numpy()
t.mul_(2)
print("numpy view after mul_:", n.tolist())

print("dtypes:", [str(torch.from_numpy(np.zeros(1, d)).dtype) for d in ("f4", "f8", "i4", "i8", "u1", "?")])

x = torch.randn(3, requires_grad=True)
try:
    x.numpy()
except RuntimeError as e:
    print("error:", str(e)[:40])
print("detached:", np.round(x.detach().numpy(), 3))

# a moving average computed both ways
signal = rng.normal(size=50).cumsum()
kernel = np.ones(5) / 5
np_avg = np.convolve(signal, kernel, mode="valid")
pt_avg = torch.nn.functional.conv1d(
    torch.as_tensor(signal).view(1, 1, -1),
    torch.as_tensor(kernel).view(1, 1, -1),
).squeeze()
print("moving averages match:", np.allclose(np_avg, pt_avg.numpy()))
print("last values:", np.round(np_avg[-3:], 4))

# negative strides are not supported without a copy
try:
    torch.from_numpy(a[::-1])
except ValueError as e:
    print("ValueError:", str(e).split(".")[0][:60])
print(torch.from_numpy(a[::-1].copy()))

mask = torch.from_numpy(signal > signal.mean())
print("above mean:", int(mask.sum()), "of", mask.numel())
