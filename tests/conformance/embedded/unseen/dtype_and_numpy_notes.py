# Notes to self: dtypes, type promotion, integer quirks and sharing memory with NumPy.
import numpy as np
import torch

# promotion rules
i = torch.tensor([1, 2, 3])
f = torch.tensor([0.5, 1.5, 2.5])
b = torch.tensor([True, False, True])
print((i + f).dtype, (i + b).dtype, (i * 2.0).dtype, (b + b).dtype, (i / 2).dtype, (i // 2).dtype)
print(torch.result_type(torch.ones(1, dtype=torch.int8), 1.0), torch.promote_types(torch.uint8, torch.int8))
h = torch.ones(2, dtype=torch.float16)
print((h + 1.0).dtype, (h + torch.ones(2)).dtype, (h + torch.tensor(1.0, dtype=torch.float64)).dtype)

# division and modulo with negatives
a = torch.tensor([-7, 7, -7, 7])
d = torch.tensor([2, 2, -2, -2])
print("floor", a // d, "trunc", torch.div(a, d, rounding_mode="trunc"), "mod", a % d, "fmod", torch.fmod(a, d))

# overflow and limits
u = torch.tensor([250, 255], dtype=torch.uint8)
print("uint8 wrap:", u + 10)
print("int limits:", torch.iinfo(torch.int16).min, torch.iinfo(torch.int16).max)
print("eps:", torch.finfo(torch.float32).eps, torch.finfo(torch.bfloat16).eps)
print("sum of int8 goes to", torch.full((300,), 1, dtype=torch.int8).sum())
print(torch.tensor([1.7, -1.7, 2.5]).to(torch.int32), torch.tensor([2.5, 3.5, -0.5]).round())
print(0.1 + 0.2 == 0.3, torch.tensor(0.1) + 0.2 == 0.3, torch.isclose(torch.tensor(0.1) + 0.2, torch.tensor(0.3)))

# bit fiddling
m = torch.tensor([0b1100, 0b1010], dtype=torch.int32)
print(m & 0b0110, m | 1, m ^ 0b1111, ~m, m << 2, m >> 1)

# numpy shares memory both ways
arr = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(arr)
t[0, 0] = 100
arr[1, 2] = -1
print(arr)
print(t)
copy = torch.tensor(arr)
copy.zero_()
print("after copy.zero_():", arr.sum())
back = t.numpy()
back *= 2
print(t, back.dtype, np.shares_memory(arr, back))

p = torch.ones(3, requires_grad=True)
try:
    p.numpy()
except RuntimeError as e:
    print("RuntimeError:", e)
print(p.detach().numpy(), p.sum().item(), p.tolist())

# non finite values
w = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])
print(torch.isnan(w), torch.isinf(w), torch.isfinite(w))
print(torch.nan_to_num(w, nan=0.0, posinf=9.0, neginf=-9.0), w.max(), torch.nansum(w[:2]))
print(torch.sqrt(torch.tensor([-1.0, 0.0, 4.0])), torch.log(torch.tensor([0.0, 1.0])))
print(np.float32(2) * torch.ones(2), np.sqrt(torch.tensor([4.0, 9.0]).numpy()))
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.tensor([[1e-3, 1234.5678], [0.1, 3.14159]]))
