"""Collects the in-place modifications that break autograd, prints their errors in short, and shows what works instead."""
import torch

torch.manual_seed(0)
a = torch.randn(4, requires_grad=True)


def attempt(title):
    """Decorator: runs the function at once and prints the gradient or the first words of the error."""
    def deco(fn):
        a.grad = None
        try:
            fn().backward()
            print(f"ok     {title}: grad", [f"{v:.4f}" for v in a.grad.tolist()])
        except RuntimeError as e:
            msg = str(e).split(". ")[0].split(", which is")[0].split(": [")[0]
            print(f"ERROR  {title}: {msg[:90]}")
        return fn
    return deco


@attempt("leaf += 1")
def _():
    b = a
    b += 1
    return b.sum()


@attempt("leaf += 1 under no_grad")
def _():
    with torch.no_grad():
        a.add_(1)
        a.sub_(1)
    return (a ** 2).sum()


@attempt("exp() then mul_ (exp saves its output)")
def _():
    b = a.exp()
    b.mul_(2)
    return b.sum()


@attempt("exp() then mul")
def _():
    b = a.exp()
    b = b * 2
    return b.sum()


@attempt("sin() then mul_ (sin saves its input)")
def _():
    b = a.sin()
    b.mul_(2)
    return b.sum()


@attempt("write into a view of a saved tensor")
def _():
    b = a * 1
    c = b ** 2
    b[0] = 0
    return c.sum()


@attempt("write into a clone")
def _():
    b = a * 1
    c = b ** 2
    d = b.clone()
    d[0] = 0
    return (c + d).sum()


@attempt("fill an output buffer row by row")
def _():
    out = torch.zeros(3, 4)
    for i in range(3):
        out[i] = a * i
    return out.sum()


@attempt("running state changed in place")
def _():
    h = torch.zeros(4)
    total = 0.0
    for _ in range(3):
        h += a
        total = total + (h * h).sum()
    return total


@attempt("detach() and write into the shared storage")
def _():
    b = a * 1
    c = b ** 2
    b.detach().zero_()
    return c.sum()


@attempt("backward twice")
def _():
    loss = (a ** 3).sum()
    loss.backward()
    return loss


b = a.exp()
print("version counter:", b._version, end=" ")
b.mul_(2)
b[0] = 1
print("->", b._version)
