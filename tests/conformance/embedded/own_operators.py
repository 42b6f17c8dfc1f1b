"""Operators that a program defines: custom_op, define, impl, gradients, arguments that are written, lists, kernels for a device, errors."""
import torch
from torch import Tensor


def told(f, *args):
    try:
        print(f(*args))
    except Exception as e:
        print(type(e).__name__, str(e).split(" (with implementation in")[0][:300])


def same(x: Tensor) -> Tensor:
    return x


def part(x: Tensor) -> Tensor:
    return x[:1]


def without_hint(x) -> Tensor:
    return x


def dictionary(x: dict) -> Tensor:
    return x


@torch.library.custom_op("demo::double", mutates_args=())
def double(x: Tensor) -> Tensor:
    return x * 2


@torch.library.custom_op("demo::pair", mutates_args=())
def pair(xs: list[Tensor], k: int, s: float = 1.0) -> tuple[Tensor, Tensor]:
    return xs[0] * k, xs[1] * s


@torch.library.custom_op("demo::count_up", mutates_args={"x"})
def count_up(x: Tensor, by: int = 1) -> None:
    x.add_(by)


@torch.library.custom_op("demo::scaled", mutates_args=())
def scaled(x: Tensor, *, by: float = 2.0) -> Tensor:
    return x * by


told(torch.library.custom_op("demo::same", same, mutates_args=()), torch.ones(2))
told(torch.library.custom_op("demo::part", part, mutates_args=()), torch.ones(2))
for bad, written in ((without_hint, ()), (dictionary, ()), (same, ("y",))):
    told(lambda: torch.library.custom_op("demo::bad", mutates_args=written)(bad))
print(torch.library.infer_schema(same, mutates_args={"x"}), torch.library.infer_schema(pair._init_fn, mutates_args=()))

x = torch.ones(2, requires_grad=True)
y = double(x)
print(y.requires_grad, double, torch.ops.demo.double, torch.ops.demo.double.default, torch.ops.demo.double.default._schema)
told(lambda: y.sum().backward())
told(double)
schema = torch.ops.demo.pair.default._schema
print(schema.name, [(a.name, str(a.type), a.has_default_value(), a.kwarg_only) for a in schema.arguments], len(schema.returns), schema.is_mutable)


def keep(ctx, inputs, output):
    print("inputs", inputs, [o.shape for o in output])
    ctx.k = inputs[1]


pair.register_autograd(lambda ctx, g1, g2: ([g1 * ctx.k, g2], None), setup_context=keep)
a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
c, d = pair([a, b], 3)
print(c.grad_fn.name())
(c.sum() + d.sum()).backward()
print(a.grad, b.grad)


def keep_by(ctx, inputs, keyword_only_inputs, output):
    ctx.by = keyword_only_inputs["by"]


scaled.register_autograd(lambda ctx, g: g * ctx.by, setup_context=keep_by)
a = torch.ones(2, requires_grad=True)
(scaled(a) + scaled(a, by=5.0)).sum().backward()
print(a.grad)

z = torch.zeros(2)
count_up(z)
count_up(z, by=3)
print(z, z._version)

told(torch.library.define, "demo2::plus", "Tensor x -> Tensor")
torch.library.define("demo2::plus", "(Tensor x) -> Tensor")


@torch.library.impl("demo2::plus", "cpu")
def plus(x):
    return x + 1


torch.library.register_autograd("demo2::plus", lambda ctx, g: g * 3)
a = torch.ones(2, requires_grad=True)
out = torch.ops.demo2.plus(a)
out.sum().backward()
print(out, a.grad, out.grad_fn.name())
half = torch.library.custom_op("demo::half", lambda x: x / 2, mutates_args=(), schema="(Tensor x) -> Tensor", device_types="cpu")
print(half(torch.ones(1)))
half.register_kernel("cpu", lambda x: x / 4)
print(half(torch.ones(1)))
with half.set_kernel_enabled("cpu", False):
    print(half(torch.ones(1)))
lib = torch.library.Library("demo3", "FRAGMENT")
lib.define("minus(Tensor a) -> Tensor")


@torch.library.impl(lib, "minus", "CompositeExplicitAutograd")
def minus(a):
    return a - 1


print(torch.ops.demo3.minus(torch.ones(2)))
