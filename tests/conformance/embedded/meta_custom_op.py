"""Operators of a program's own tell by their fake kernels what shapes they make: on the device "meta" nothing runs."""
import torch


@torch.library.custom_op("shapes::moving_mean", mutates_args=())
def moving_mean(x: torch.Tensor, width: int) -> torch.Tensor:
    return x.unfold(-1, width, 1).mean(-1)


@moving_mean.register_fake
def _(x, width):
    torch._check(width <= x.shape[-1], lambda: "the window is wider than the data")
    return x.new_empty((*x.shape[:-1], x.shape[-1] - width + 1))


torch.library.define("shapes::scaled_gram", "(Tensor x, float scale) -> (Tensor, Tensor)")


@torch.library.impl("shapes::scaled_gram", "cpu")
def scaled_gram(x, scale):
    return x @ x.t() * scale, x.norm(dim=1)


@torch.library.register_fake("shapes::scaled_gram")
def _(x, scale):
    return (x @ x.t()) * scale, torch.zeros_like(x[:, 0])


@torch.library.custom_op("shapes::fill_pattern", mutates_args={"out"})
def fill_pattern(out: torch.Tensor) -> None:
    out.copy_(torch.arange(out.numel(), dtype=out.dtype).view_as(out))


@fill_pattern.register_fake
def _(out):
    return None


for device in ("cpu", "meta"):
    x = torch.ones(3, 8, device=device)
    mean = moving_mean(x, 3)
    gram, norms = torch.ops.shapes.scaled_gram(x, 0.5)
    fill_pattern(x)
    for t in (mean, gram, norms, x):
        print(tuple(t.shape), t.stride(), t.dtype, t.device)
try:
    moving_mean(torch.empty(2, 2, device="meta"), 3)
except RuntimeError as error:
    print(error)
h = torch.nn.functional.relu(moving_mean(torch.empty(4, 10, device="meta").double(), 2)).sum(0)
print(tuple(h.shape), h.dtype, h.device)
print(torch.ops.shapes.moving_mean(torch.arange(5.0), 2).tolist())
