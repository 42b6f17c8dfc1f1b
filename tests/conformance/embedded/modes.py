"""no_grad, enable_grad, set_grad_enabled and inference_mode: nested, as decorators, as functions."""
import torch

w = torch.ones(2, 2, requires_grad=True)


@torch.no_grad()
def quiet(t):
    return t * 2


@torch.inference_mode()
def inferred(t):
    return t * 2


@torch.no_grad
def bare(t):
    with torch.enable_grad():
        return t * 2


print(quiet(w).requires_grad, inferred(w).is_inference(), bare(w).requires_grad)
with torch.no_grad():
    with torch.enable_grad():
        print((w + 1).requires_grad)
    with torch.set_grad_enabled(False):
        print((w + 1).requires_grad, torch.is_grad_enabled())
    w.add_(1)
previous = torch.is_grad_enabled()
torch.set_grad_enabled(False)
print((w + 1).requires_grad)
torch.set_grad_enabled(previous)
with torch.inference_mode():
    inside = torch.ones(2, 2)
    print(torch.is_inference_mode_enabled(), inside.is_inference(), (inside * w).requires_grad)
    with torch.inference_mode(False):
        print(torch.is_grad_enabled(), (w * 2).requires_grad, torch.ones(1).is_inference())
print((inside + w).requires_grad, w._version, w.sum().item())
try:
    inside * w
except RuntimeError as e:
    print(str(e)[:60])
