"""One body under four modes: which layers does PyTorch's dispatcher visit, and which does it skip?

The same four operators run under grad, under no_grad, and twice under inference_mode: once on a normal
tensor made outside, once on a tensor that was made inside. Things to look for in the recording:

  * grad and no_grad take the same hops. no_grad doesn't skip autograd's layer; its kernel runs and
    makes no node.
  * inference_mode does skip it: AutogradCPU is excluded for as long as the mode is on.
  * A normal tensor under inference_mode still has ADInplaceOrView in its key set (views and in-place
    writes on it must be tracked); an inference tensor has not.
"""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
weight = torch.randn(3, 4, requires_grad=True)
base = torch.randn(2, 4)


def body(x, step):
    v = x.view(4, 2)      # a view: shares x's memory
    v.add_(step)          # in-place: bumps the version counter of x and v
    y = x.exp()           # out-of-place: a new tensor
    return F.linear(y, weight)


one = torch.ones(4, 2)

out = body(base, one)
print("grad:                         ", out.sum().item(), out.grad_fn.name())

with torch.no_grad():
    out = body(base, one)
print("no_grad:                      ", out.sum().item(), out.grad_fn)

with torch.inference_mode():
    out = body(base, one)             # `base` was made outside: a normal tensor
    print("inference_mode, normal:       ", out.sum().item(), out.is_inference())

with torch.inference_mode():
    inside = torch.ones(2, 4)         # made inside: an inference tensor
    out = body(inside, one)
    print("inference_mode, inference:    ", out.sum().item(), out.is_inference())
