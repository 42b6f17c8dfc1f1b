"""New tensors without data, and drawn numbers."""
import math

import torch

from . import prims
from .registry import inplace, kernel, written
from .rules import check, convert, dtype_of, is_integer, is_integral, kind_of, physical_layout


@kernel("empty_like")
def empty_like(self, *, dtype=None, layout=None, device=None, pin_memory=False, memory_format=torch.preserve_format):
    options = {"dtype": dtype or self.dtype, "layout": layout or self.layout, "device": device or self.device, "pin_memory": pin_memory or False}
    if memory_format not in (None, torch.preserve_format):
        return torch.empty(self.shape, memory_format=memory_format, **options)
    return torch.empty_permuted(self.shape, physical_layout([self]), **options)


@kernel("full_like")
def full_like(self, fill_value, *, memory_format=torch.preserve_format, **options):
    return torch.empty_like(self, memory_format=memory_format, **options).fill_(fill_value)


@kernel("zeros_like")
def zeros_like(self, **options):
    return torch.ops.aten.empty_like.default(self, **options).fill_(0)


@kernel("ones_like")
def ones_like(self, *, dtype=None, memory_format=torch.preserve_format, **options):
    return torch.full_like(self, True if (dtype or self.dtype) is torch.bool else 1, dtype=dtype, memory_format=memory_format, **options)


@kernel("rand_like")
def rand_like(self, **options):
    return torch.empty_like(self, **options).uniform_()


@kernel("randn_like")
def randn_like(self, **options):
    return torch.empty_like(self, **options).normal_()


@kernel("randint_like")
def randint_like(self, high, **options):
    return torch.empty_like(self, **options).random_(0, high)


@kernel("randint_like.low_dtype")
def randint_like_low(self, low, high, **options):
    return torch.empty_like(self, **options).random_(low, high)


def _like(self, options):
    return {"dtype": options.get("dtype") or self.dtype, "layout": options.get("layout") or self.layout, "device": options.get("device") or self.device,
            "pin_memory": options.get("pin_memory") or False}


@kernel("new_empty")
def new_empty(self, size, **options):
    return torch.empty(size, **_like(self, options))


@kernel("new_empty_strided")
def new_empty_strided(self, size, stride, **options):
    return torch.empty_strided(size, stride, **_like(self, options))


@kernel("new_full")
def new_full(self, size, fill_value, **options):
    return torch.full(size, fill_value, **_like(self, options))


@kernel("new_zeros")
def new_zeros(self, size, **options):
    options = _like(self, options)
    return torch.full(size, False if options["dtype"] is torch.bool else 0, **options)


@kernel("new_ones")
def new_ones(self, size, **options):
    options = _like(self, options)
    return torch.full(size, True if options["dtype"] is torch.bool else 1, **options)


@kernel("ones", "zeros")
def ones(size, *, dtype=None, layout=None, device=None, pin_memory=False):
    return torch.empty(size, dtype=dtype or torch.get_default_dtype(), layout=layout or torch.strided, device=device, pin_memory=pin_memory or False)


@kernel("full")
def full(size, fill_value, *, dtype=None, **options):
    return torch.empty(size, dtype=dtype or dtype_of(fill_value), **options)


@kernel("rand")
def rand(size, **options):
    return torch.empty(size, **options)


@kernel("scalar_tensor")
def scalar_tensor(s, **options):
    return torch.empty((), **options)


@kernel("randperm")
def randperm(n, *, dtype=torch.int64, **options):
    return torch.empty(n, dtype=dtype or torch.int64, **options)


@kernel("randint.low")
def randint_low(low, high, size, *, dtype=torch.int64, **options):
    check(high > low, lambda: "random_ expects 'from' to be less than 'to', but got from=%s >= to=%s" % (low, high))
    return torch.empty(size, dtype=dtype, **options)


@kernel("randint")
def randint(high, size, **options):
    return randint_low(0, high, size, **options)


@kernel("linspace", "logspace")
def linspace(start, end, steps, base=None, *, dtype=None, layout=None, device=None, pin_memory=False):
    check(steps >= 0, "number of steps must be non-negative")
    return torch.empty((steps,), dtype=dtype or torch.get_default_dtype(), layout=layout or torch.strided, device=device, pin_memory=pin_memory or False)


@kernel("randn")
def randn(size, *, dtype=None, layout=None, device=None, pin_memory=False):
    return prims.normal(size, mean=0.0, std=1.0, dtype=dtype or torch.get_default_dtype(), device=device, requires_grad=False)


@kernel("arange")
def arange(end, *, dtype=None, layout=None, device=None, pin_memory=False):
    return torch.ops.aten.arange.start_step(0, end, 1, dtype=dtype, layout=layout or torch.strided, device=device, pin_memory=pin_memory or False)


@kernel("arange.start")
def arange_start(start, end, *, dtype=None, layout=None, device=None, pin_memory=False):
    return torch.ops.aten.arange.start_step(start, end, 1, dtype=dtype, layout=layout or torch.strided, device=device, pin_memory=pin_memory or False)


@kernel("arange.start_step")
def arange_start_step(start, end, step=1, *, dtype=None, layout=None, device=None, pin_memory=False):
    check(step != 0, "step must be nonzero")
    check(end >= start if step > 0 else end <= start, "upper bound and lower bound inconsistent with step sign")
    check(math.isfinite(start) and math.isfinite(end), lambda: "unsupported range: %s -> %s" % (start, end))
    integers = all(isinstance(v, int) for v in (start, end, step))
    dtype = dtype or (torch.int64 if integers else torch.get_default_dtype())
    if is_integer(dtype) or integers:
        whole = int(start), int(end), int(step)
    if dtype is torch.int64 or integers:
        sign = 1 if whole[2] > 0 else -1
        length = (whole[1] - whole[0] + whole[2] - sign) // whole[2]
    else:
        length = math.ceil((end - start) / step)
    if is_integer(dtype):
        return prims.iota(length, start=whole[0], step=whole[2], dtype=dtype, device=device, requires_grad=False)
    index = prims.iota(length, start=0, step=1, dtype=torch.int64, device=device, requires_grad=False)
    index = convert(index, torch.int64 if integers else torch.float64 if dtype is torch.float64 else torch.float32)
    return convert(start + step * index, dtype)


@kernel("eye.m")
def eye_m(n, m, *, dtype=None, layout=None, device=None, pin_memory=False):
    check(n >= 0, lambda: "n must be greater or equal to 0, got %d" % n)
    check(m >= 0, lambda: "m must be greater or equal to 0, got %d" % m)
    least = next(d for d in (torch.uint8, torch.int16, torch.int32, torch.int64) if max(n, m) <= torch.iinfo(d).max)
    rows = torch.arange(n, dtype=least, device=device)
    columns = torch.arange(m, dtype=least, device=device)
    return (rows.unsqueeze(-1) == columns).to(dtype or torch.get_default_dtype())


@kernel("eye.m_out")
def eye_m_out(n, m, *, out):
    return written(out, eye_m(n, m, dtype=out.dtype, device=out.device))


@kernel("eye.out")
def eye_out(n, *, out):
    return eye_m_out(n, n, out=out)


@kernel("eye")
def eye(n, **options):
    return eye_m(n, n, **options)


@kernel("uniform_")
def uniform_(self, low=0.0, high=1.0, *, generator=None):
    return self.copy_(prims.uniform(self.shape, low=float(low), high=float(high), dtype=self.dtype, device=self.device, stride=self.stride(), generator=generator))


@kernel("normal_")
def normal_(self, mean=0, std=1, *, generator=None):
    check(std >= 0, lambda: "normal expects std >= 0.0, but found std %s" % std)
    drawn = prims.normal(self.shape, mean=0.0, std=1.0, dtype=self.dtype, device=self.device, requires_grad=False, generator=generator)
    return self.copy_(std * drawn + mean)


def exponential(self, rate=1, *, generator=None):
    check(not is_integral(self.dtype) and kind_of(self.dtype) is not complex,
          lambda: "Exponential distribution is a continuous probability distribution.   dtype must be a floating point but you specified %s" % self.dtype)
    check(rate > 0.0, lambda: "exponential_ expects lambda > 0.0, but found lambda=%s" % rate)
    drawn = torch.rand_like(self)
    least = torch.finfo(drawn.dtype).eps / 2
    return -1 / rate * torch.where(drawn >= 1.0 - least, -least, torch.log(drawn))


inplace(exponential, "exponential_")


@kernel("bernoulli_.float", "random_", "random_.from", "random_.to")
def drawn_(self, *args, generator=None):
    return self


@kernel("bernoulli")
def bernoulli(self, *, generator=None):
    return torch.empty_like(self, memory_format=torch.contiguous_format)


@kernel("bernoulli.p")
def bernoulli_p(self, p=0.5, *, generator=None):
    return torch.empty_like(self)


@kernel("zero_", "fill_.Scalar", "fill_.Tensor")
def filled_(self, value=None):
    return self
