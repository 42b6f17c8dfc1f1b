"""Registers a NumPy routine as a custom operator with fake and autograd rules and uses it within a small training loop."""
import numpy as np
import torch
from torch import Tensor

torch.manual_seed(18)


@torch.library.custom_op("lab::ema_filter", mutates_args=())
def ema_filter(x: Tensor, a: float) -> Tensor:
    """y[t] = a * y[t-1] + (1 - a) * x[t] along the last dimension; the instrument's old NumPy code."""
    v = x.detach().numpy()
    y = np.empty_like(v)
    state = np.zeros(v.shape[:-1], dtype=v.dtype)
    for t in range(v.shape[-1]):
        state = a * state + (1 - a) * v[..., t]
        y[..., t] = state
    return torch.from_numpy(y)


@ema_filter.register_fake
def _(x, a):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    ctx.a = inputs[1]


def backward(ctx, grad):
    # the adjoint of a causal filter is the same filter running backwards
    return ema_filter(grad.flip(-1).contiguous(), ctx.a).flip(-1), None


ema_filter.register_autograd(backward, setup_context=setup_context)

x = torch.zeros(1, 6, dtype=torch.float64)
x[0, 0] = 1
print("impulse response:", [round(v, 4) for v in ema_filter(x, 0.5)[0].tolist()])
print("registered as:", torch.ops.lab.ema_filter.default)

p = torch.randn(2, 7, dtype=torch.float64, requires_grad=True)
print("gradcheck:", torch.autograd.gradcheck(lambda t: ema_filter(t, 0.7), (p,)))
print("gradgradcheck:", torch.autograd.gradgradcheck(lambda t: ema_filter(t, 0.7) ** 2, (p,)))

meta = torch.ops.lab.ema_filter(torch.empty(3, 1000, device="meta"), 0.9)
print("fake result:", tuple(meta.shape), meta.device.type)

# deconvolution: find the signal whose filtered version was measured
truth = torch.zeros(1, 40)
truth[0, 8:14] = 1.0
truth[0, 25:27] = 2.0
measured = ema_filter(truth, 0.8) + 0.005 * torch.randn(1, 40)
guess = torch.zeros(1, 40, requires_grad=True)
momentum = torch.zeros_like(guess)
for it in range(151):
    loss = (ema_filter(guess, 0.8) - measured).square().sum() + 0.002 * guess.diff(dim=-1).abs().sum()
    (g,) = torch.autograd.grad(loss, guess)
    with torch.no_grad():
        momentum = 0.9 * momentum - 0.2 * g
        guess += momentum
    if it % 50 == 0:
        print(f"it {it:3d} loss {loss.item():.4f} error {(guess - truth).norm().item():.3f}")
print("found:", [f"{v:.1f}" for v in guess[0, 6:16].abs().tolist()])

try:
    ema_filter(torch.zeros(2, 3), "0.5")
except Exception as e:
    print("wrong argument type:", type(e).__name__)
