# Reproductions of common in-place / view / autograd mistakes and what PyTorch says about them.
import torch


def attempt(title, fn):
    print("---", title)
    try:
        out = fn()
        print("ok:", out)
    except RuntimeError as err:
        print("RuntimeError:", str(err).split(". ")[0].split("\n")[0])


def leaf_inplace():
    w = torch.ones(3, requires_grad=True)
    w += 1
    return w


def saved_tensor_modified():
    x = torch.ones(2, 2, requires_grad=True)
    y = x.exp()
    y.mul_(2)          # exp saved its output
    y.sum().backward()
    return x.grad


def double_backward():
    x = torch.tensor(2.0, requires_grad=True)
    y = x ** 3
    y.backward()
    y.backward()
    return x.grad


def double_backward_retained():
    x = torch.tensor(2.0, requires_grad=True)
    y = x ** 3
    y.backward(retain_graph=True)
    y.backward()
    return x.grad      # accumulated twice


def non_scalar_backward():
    x = torch.ones(3, requires_grad=True)
    (x * 2).backward()


def view_of_transposed():
    return torch.arange(6).reshape(2, 3).t().view(6)


def expanded_write():
    e = torch.zeros(1, 3).expand(4, 3)
    e.add_(1)
    return e


def matmul_shapes():
    return torch.ones(2, 3) @ torch.ones(4, 5)


for f in [leaf_inplace, saved_tensor_modified, double_backward, double_backward_retained,
          non_scalar_backward, view_of_transposed, expanded_write, matmul_shapes]:
    attempt(f.__name__.replace("_", " "), f)

# views alias, clones do not
base = torch.arange(12.0).reshape(3, 4)
row, col, clone = base[1], base[:, 2], base[1].clone()
row[0] = -1
col.mul_(10)
print(base, clone)
print("is view:", row._is_view(), clone._is_view(), "strides", col.stride(), "offset", col.storage_offset())
print("version:", base._version, "same storage:", row.untyped_storage().data_ptr() == base.untyped_storage().data_ptr())

# gradient through an in-place write to a slice
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
buf = torch.zeros(5)
buf[1:4] = a * a
buf[2] = 7.0
buf.sum().backward()
print("grad through slice:", a.grad, "buf:", buf)
a.grad.zero_()
(a.detach() * a).sum().backward()
print("detach halves it:", a.grad, a.is_leaf, buf.requires_grad)
