# Collected small reproductions of autograd errors people run into, each caught and its first line printed.
import torch
import torch.nn as nn

def attempt(title, fn):
    try:
        result = fn()
        print(f"[ok]    {title}: {result}")
    except Exception as e:
        first = str(e).strip().splitlines()[0]
        print(f"[error] {title}: {type(e).__name__}: {first[:90]}")

def leaf_inplace():
    w = torch.ones(3, requires_grad=True)
    w += 1

def leaf_inplace_no_grad():
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        w += 1
    return w.tolist()

def saved_tensor_modified():
    a = torch.tensor([1., 2., 3.], requires_grad=True)
    b = a.exp()
    b.mul_(2)          # exp needs its result for the backward
    b.sum().backward()

def harmless_inplace():
    a = torch.tensor([1., 2., 3.], requires_grad=True)
    b = a + 1
    b.mul_(2)
    b.sum().backward()
    return a.grad.tolist()

def backward_twice(retain):
    a = torch.tensor([2.0], requires_grad=True)
    loss = a.pow(2).sum()
    loss.backward(retain_graph=retain)
    loss.backward()
    return a.grad.item()

def slice_assign():
    x = torch.zeros(2, 3)
    w = torch.tensor([1., 2.], requires_grad=True)
    x[:, 1] = w * 3
    x.pow(2).sum().backward()
    return x.requires_grad, w.grad.tolist()

attempt("in-place on a leaf", leaf_inplace)
attempt("in-place on a leaf under no_grad", leaf_inplace_no_grad)
attempt("overwriting a saved result", saved_tensor_modified)
attempt("in-place on an add result", harmless_inplace)
attempt("backward twice", lambda: backward_twice(False))
attempt("backward twice, retained", lambda: backward_twice(True))
attempt("assigning into a slice", slice_assign)
attempt("backward of a vector", lambda: torch.ones(2, requires_grad=True).mul(2).backward())
attempt("backward without grad", lambda: torch.ones(1).backward())
attempt("numpy of a grad tensor", lambda: torch.ones(1, requires_grad=True).numpy())
attempt("integer requires_grad", lambda: torch.tensor([1, 2], requires_grad=True))
attempt("shape mismatch", lambda: torch.randn(2, 3) @ torch.randn(2, 3))
attempt("broadcast mismatch", lambda: torch.ones(3) + torch.ones(4))
attempt("view of a transposed tensor", lambda: torch.ones(2, 3).t().view(6))
attempt("item of two elements", lambda: torch.ones(2).item())
attempt("bad linear input", lambda: nn.Linear(3, 1)(torch.ones(2, 4)))
x = torch.zeros(3)
print(x._version, x.add_(1)._version, x[0:2].zero_()._version, x._version)
