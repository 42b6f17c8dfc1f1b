# Tutorial: dtypes, type promotion, casting, integer division, bfloat16/float16 rounding and special values.
import numpy as np
import torch

for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    fi = torch.finfo(d)
    print(f"{str(d):15s} eps={fi.eps:.3e} max={fi.max:.3e} tiny={fi.tiny:.3e}")
for d in (torch.uint8, torch.int8, torch.int16, torch.int64):
    ii = torch.iinfo(d)
    print(f"{str(d):15s} {ii.min} .. {ii.max}")

i = torch.tensor([1, 2, 3])
b = torch.tensor([True, False, True])
f = torch.tensor([0.5, 1.5, 2.5])
print((i + b).dtype, (i + f).dtype, (i + 1.0).dtype, (i / 2).dtype, (b + b).dtype)
print(torch.result_type(i, 2.5), torch.promote_types(torch.uint8, torch.int8))
print((f.double() + f).dtype, (f.half() + 1.0).dtype, (torch.tensor(2.0, dtype=torch.float64) * f).dtype)

# integer arithmetic
x = torch.tensor([-7, -3, 3, 7])
print(x // 2, torch.div(x, 2, rounding_mode="trunc"), x % 3, torch.fmod(x, 3), x.remainder(-3))
print(torch.tensor([250, 255], dtype=torch.uint8) + 10)
print(x << 1, x >> 1, x & 3, x | 1, x ^ 5, ~x)
print(torch.tensor([1.9, -1.9, 2.5, 3.5]).int(), torch.tensor([0.5, 1.5, 2.5, -0.5]).round())

# low precision
v = torch.linspace(0, 1, 5) / 3
print(v.bfloat16(), v.half(), sep="\n")
print("bf16 1 + 1/512 == 1:", (torch.tensor(1.0).bfloat16() + 1 / 512 == 1).item())
print("half overflow:", torch.tensor([60000.0, 70000.0]).half())
print("bf16 sum:", torch.full((32,), 0.1, dtype=torch.bfloat16).sum(), "float sum:", torch.full((32,), 0.1).sum())

# special values
s = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
print(s.isnan(), s.isinf(), s.isfinite(), s.signbit(), sep="\n")
print(torch.nan_to_num(s, nan=1.0, posinf=9.0, neginf=-9.0), s.eq(s))
print(torch.nanmean(torch.tensor([1.0, float("nan"), 3.0])), torch.tensor([1.0, float("nan")]).max())

# numpy
a = np.arange(6, dtype=np.float64).reshape(2, 3)
t = torch.from_numpy(a)
t[0, 0] = 100
print(a[0], t.dtype, torch.tensor(a.astype(np.int32)).dtype, torch.as_tensor(a).data_ptr() == t.data_ptr())
print(t.float().numpy().dtype, np.sqrt(t.numpy())[1].round(3), t.T.numpy().strides)
print(torch.tensor([1 + 2j]).dtype, torch.tensor(3).type(), torch.tensor([1.5]).to(torch.bool))
print(torch.tensor([1065353216], dtype=torch.int32).view(torch.float32))

try:
    i.mean()
except RuntimeError as e:
    print("mean of ints:", str(e).split(".")[0])
try:
    i += 0.5
except RuntimeError as e:
    print("in-place:", e)
