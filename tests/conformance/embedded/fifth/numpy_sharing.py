"""First steps: which tensors share memory with NumPy arrays or with each other, and what strides have to do with it."""
import numpy as np
import torch

torch.manual_seed(0)

print("# from numpy")
a = np.arange(6, dtype=np.float32).reshape(2, 3)
shared = torch.from_numpy(a)
copied = torch.tensor(a)
maybe = torch.as_tensor(a)
a[0, 0] = 100
print("from_numpy:", shared[0, 0].item(), " tensor():", copied[0, 0].item(), " as_tensor:", maybe[0, 0].item())
shared *= 2
print("and back:", a.tolist())
print("as_tensor with another dtype copies:", torch.as_tensor(a, dtype=torch.float64).dtype)

print("# dtypes that surprise")
print(torch.tensor([1, 2]).dtype, torch.tensor([1.0, 2]).dtype, torch.from_numpy(np.array([1.0, 2])).dtype)
print((torch.tensor([1, 2]) / 2).tolist(), (torch.tensor([-3, 3]) // 2).tolist(), (torch.tensor([1, 2]) + 0.5).dtype)
print((torch.tensor([3], dtype=torch.uint8) - 4).tolist())

print("# negative strides are not allowed")
try:
    torch.from_numpy(a[::-1])
except ValueError as e:
    print("ValueError:", str(e)[:70])
print("with copy:", torch.from_numpy(a[::-1].copy())[0].tolist())

print("# strides")


def describe(name, t):
    print(f"{name:22s} shape {str(tuple(t.shape)):12s} stride {str(t.stride()):12s} "
          f"offset {t.storage_offset()} contiguous {t.is_contiguous()}")


x = torch.arange(12).view(3, 4)
describe("x", x)
describe("x.t()", x.t())
describe("x[:, 1]", x[:, 1])
describe("x[1:, ::2]", x[1:, ::2])
describe("x[0].expand(3, 4)", x[0].expand(3, 4))
describe("x.t().contiguous()", x.t().contiguous())
describe("x.unfold(1, 2, 1)", x.unfold(1, 2, 1))
describe("as_strided diagonal", x.as_strided((3,), (5,)))
print("diagonal:", x.as_strided((3,), (5,)).tolist())

print("# view or copy?")
same = lambda p, q: p.untyped_storage().data_ptr() == q.untyped_storage().data_ptr()
for label, t in [("view", x.view(4, 3)), ("reshape", x.reshape(-1)), ("reshape of t()", x.t().reshape(-1)),
                 ("flatten", x.flatten()), ("x[[0, 1]]", x[[0, 1]]), ("x[0:2]", x[0:2]),
                 ("permute", x.permute(1, 0)), ("clone", x.clone()), ("x.long()", x.long()), ("x.int()", x.int())]:
    print(f"{label:15s}", "shares" if same(x, t) else "copy")
try:
    x.t().view(-1)
except RuntimeError as e:
    print("RuntimeError:", str(e)[:60])

print("# tensor -> numpy")
w = torch.ones(2, requires_grad=True)
try:
    w.numpy()
except RuntimeError as e:
    print("RuntimeError:", str(e).split(". ")[0])
arr = w.detach().numpy()
arr[0] = 5
print("weights changed behind autograd's back:", w.tolist())
print("numpy functions on tensors:", type(np.sqrt(x.float())).__name__, "%.3f" % np.mean(x.float().numpy()))
