"""Exceptions raised inside operators, caught, and one at the end that nobody catches. Exit status 1."""
import torch


def attempt(what, f):
    try:
        f()
    except Exception as e:
        print(what, type(e).__name__, str(e).split("\n")[0])


a = torch.ones(2, 3, requires_grad=True)
attempt("shape", lambda: a @ a)
attempt("dtype", lambda: torch.ones(2) @ torch.ones(2, dtype=torch.long))
attempt("index", lambda: a[5])
attempt("leaf", lambda: a.add_(1))
attempt("out", lambda: torch.exp(a, out=torch.empty(2, 3)))


def stale():
    y = a.exp()
    y.add_(1)
    y.sum().backward()


attempt("version", stale)


def twice():
    y = (a * a).sum()
    y.backward()
    y.backward()


attempt("twice", twice)
with torch.no_grad():
    view = a.detach().clone()[0]
with torch.inference_mode():
    inference = torch.ones(2, 3)
attempt("inference", lambda: (inference * a).sum().backward())
attempt("inference in-place", lambda: inference.add_(1))
attempt("missing kernel", lambda: torch.ops.aten._fft_r2c(torch.ones(2, device="meta").to_sparse(), [0], 0, True))
attempt("no arguments", lambda: torch.cat([]))
attempt("quantized", lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8).exp())


class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("from backward")


attempt("in backward", lambda: Bad.apply(a).sum().backward())
lib = torch.library.Library("peel_raises", "DEF")
lib.define("f(Tensor x) -> Tensor")


def kernel(x):
    x.sin()
    raise LookupError("from a kernel")


lib.impl("f", kernel, "CPU")
attempt("python kernel", lambda: torch.ops.peel_raises.f(torch.ones(1)))
torch.zeros(2).view(3)
