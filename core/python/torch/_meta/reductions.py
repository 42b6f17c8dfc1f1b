"""Operators that reduce dimensions, and those along one."""
import math

import torch

from . import prims
from .registry import inplace, kernel
from .rules import check, computed_in, convert, is_integral, kind_of, real_of, reduced_dims, reduced_shape, wrap_dim
from .elementwise import true_divide


def _reduction(a, prim, dim, keepdim, dtype=None, result=None, empty=True):
    """`dtype`: what is reduced; `result`: what comes out, None: whatever is computed in."""
    dims = reduced_dims(a, dim if dim != [] else None)
    check(empty or a.dim() == 0 or all(a.shape[d] > 0 for d in dims), "reducing over zero-size dimension for reduction operation without identity")
    a = convert(a, computed_in(dtype or a.dtype))
    out = prim(a, dims)
    if keepdim:
        out = prims.broadcast_in_dim(out, reduced_shape(a, dims, True), [i for i in range(a.dim()) if i not in dims])
    return out if result is None or out.dtype is result else prims.convert_element_type(out, result)


def _summed(a, dtype):
    return dtype or (torch.int64 if is_integral(a.dtype) else a.dtype)


def reduce_sum(self, dim=None, keepdim=False, *, dtype=None):
    dtype = _summed(self, dtype)
    return _reduction(self, prims.sum, dim, keepdim, dtype, dtype)


kernel("sum.dim_IntList")(reduce_sum)


@kernel("sum")
def sum_(self, *, dtype=None):
    return torch.ops.aten.sum.dim_IntList(self, [], dtype=dtype)


@kernel("prod.dim_int")
def prod(self, dim=None, keepdim=False, *, dtype=None):
    dtype = _summed(self, dtype)
    return _reduction(self, prims.prod, dim, keepdim, dtype, dtype)


@kernel("prod")
def prod_all(self, *, dtype=None):
    return prod(self, dtype=dtype)


@kernel("mean.dim")
def mean(self, dim=None, keepdim=False, *, dtype=None):
    named, dtype = dtype, dtype or self.dtype
    out = _reduction(self, prims.sum, dim, keepdim, dtype)
    check(not is_integral(dtype), lambda: "mean(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s" % ("Input" if named is None else "Optional", dtype))
    return convert(true_divide(out, math.prod(self.shape[d] for d in reduced_dims(self, dim if dim != [] else None))), dtype)


@kernel("mean")
def mean_all(self, *, dtype=None):
    return mean(self, dtype=dtype)


@kernel("amax")
def amax(self, dim=None, keepdim=False):
    return _reduction(self, prims.amax, dim, keepdim, None, self.dtype, False)


@kernel("amin")
def amin(self, dim=None, keepdim=False):
    return _reduction(self, prims.amin, dim, keepdim, None, self.dtype, False)


def _correction(correction):
    return 1.0 if correction is None else float(correction)


def _variance(self, dim, correction, keepdim):
    correction = _correction(correction)
    check(correction >= 0, "correction argument should be non-negative", ValueError)
    return _reduction(self, lambda a, dims: prims.var(a, dims, correction), dim, keepdim, None, real_of(self.dtype))


@kernel("var.correction")
def var(self, dim=None, *, correction=None, keepdim=False):
    return _variance(self, dim, correction, keepdim)


@kernel("var_mean.correction")
def var_mean(self, dim=None, *, correction=None, keepdim=False):
    return _variance(self, dim, correction, keepdim), mean(self, dim, keepdim)


@kernel("std.correction")
def std(self, dim=None, *, correction=None, keepdim=False):
    a = convert(self, computed_in(self.dtype))
    return convert(torch.sqrt(torch.var(a, dim, correction=_correction(correction), keepdim=keepdim)), real_of(self.dtype))


def _any(self, dim, keepdim):
    a = convert(self, torch.bool)
    out = a.clone() if dim == [] else a.sum(dim=dim, keepdim=keepdim).ne(False)
    return prims.convert_element_type(out, torch.uint8) if self.dtype is torch.uint8 else out


def _all(self, dim, keepdim):
    zeros = torch.logical_not(self)
    out = torch.logical_not(torch.any(zeros, dim, keepdim=keepdim) if dim is not None else _any(zeros, None, keepdim))
    return out.to(dtype=torch.uint8) if self.dtype is torch.uint8 else out


@kernel("any", "any.dim")
def any_(self, dim=None, keepdim=False):
    return _any(self, dim, keepdim)


@kernel("all", "all.dim")
def all_(self, dim=None, keepdim=False):
    return _all(self, dim, keepdim)


@kernel("max", "min")
def extreme(self):
    return self.new_empty(())


@kernel("max.dim", "min.dim")
def extreme_along(self, dim, keepdim=False):
    shape = reduced_shape(self, reduced_dims(self, dim), keepdim)
    return self.new_empty(shape), self.new_empty(shape, dtype=torch.int64)


def _place(name, self, dim, keepdim):
    if dim is None:
        check(self.numel() != 0, lambda: "%s: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument." % name)
        return self.new_empty([1] * self.dim() if keepdim else [], dtype=torch.int64)
    dim = wrap_dim(dim, self.dim())
    check(self.dim() == 0 or self.shape[dim] != 0, lambda: "%s: Expected reduction dim %d to have non-zero size." % (name, dim))
    return self.new_empty(reduced_shape(self, [dim], keepdim), dtype=torch.int64)


@kernel("aminmax")
def aminmax(self, *, dim=None, keepdim=False):
    dims = [] if dim is None else [dim]
    low = torch.amin(self, dim=dims, keepdim=keepdim)
    return low, torch.amax(self, dim=dims, keepdim=keepdim)


@kernel("median", "nanmedian")
def median(self):
    return self.new_empty(())


@kernel("median.dim", "nanmedian.dim", "mode")
def median_along(self, dim=-1, keepdim=False):
    return extreme_along(self, dim, keepdim)


@kernel("kthvalue")
def kthvalue(self, k, dim=-1, keepdim=False):
    dim = wrap_dim(dim, self.dim())
    size = self.shape[dim] if self.dim() else 1
    check(1 <= k <= size, lambda: "kthvalue(): selected number k out of range for dimension %d" % dim)
    return extreme_along(self, dim, keepdim)


@kernel("argmax", "argmin")
def argmax(self, dim=None, keepdim=False):
    return _place("argmax", self, dim, keepdim)


@kernel("logsumexp")
def logsumexp(self, dim, keepdim=False):
    if self.numel() == 0:
        return torch.sum(torch.exp(self), dim, keepdim).log()
    most = torch.amax(torch.real(self), dim, keepdim=True)
    most = torch.masked_fill(most, most.abs() == math.inf, 0)
    flat = most if keepdim else torch.squeeze(most, dim)
    return torch.sum(torch.exp(self - most), dim, keepdim).log().add(flat)


@kernel("linalg_vector_norm")
def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):  # noqa: A002
    check(kind_of(self.dtype) in (float, complex), lambda: "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s" % self.dtype)
    result = real_of(dtype or self.dtype)
    if ord == 0.0:
        return torch.sum(torch.ne(self, 0.0), dim=dim, keepdim=keepdim, dtype=result)
    if abs(ord) == math.inf:
        return convert((torch.amax if ord > 0 else torch.amin)(torch.abs(self), dim=dim, keepdim=keepdim), result)
    x = convert(self, computed_in(dtype or self.dtype))
    dim = None if dim == [] else dim if dim is None else reduced_dims(x, dim)
    if (x.numel() == 1 if dim is None else x.dim() > 0 and all(x.shape[d] == 1 for d in dim)):
        x = convert(torch.abs(x), result)
        if keepdim or x.dim() == 0:
            return x.contiguous()
        return x.flatten()[0] if dim is None else x.view(reduced_shape(x, dim, False)).contiguous()
    if ord % 2 != 0 or kind_of(x.dtype) is not float:
        x = torch.abs(x)
    return convert(torch.pow(torch.sum(torch.pow(x, ord), dim=dim, keepdim=keepdim), 1.0 / ord), result)


def _running(whole, first):
    def run(self, dim, *, dtype=None):
        dim = wrap_dim(dim, self.dim())
        if self.dim() == 0:
            return whole(self.unsqueeze(0), 0, dtype=dtype)
        a = self.unsqueeze(dim + 1)
        places = torch.arange(a.shape[dim], device=a.device)
        mask = places.unsqueeze(1) <= places
        for _ in range(self.dim() - dim - 1):
            mask = mask.unsqueeze(-1)
        return whole(torch.where(mask, a, first), dim, dtype=dtype)
    return run


cumsum, cumprod = _running(reduce_sum, 0), _running(prod, 1)
kernel("cumsum")(cumsum)
kernel("cumprod")(cumprod)
inplace(cumsum, "cumsum_")
inplace(cumprod, "cumprod_")


@kernel("sort", "sort.stable")
def sort(self, *args, **kwargs):
    return torch.empty_like(self), torch.empty_like(self, dtype=torch.int64)


@kernel("topk")
def topk(self, k, dim=-1, largest=True, sorted=True):  # noqa: A002
    dim = wrap_dim(dim, self.dim())
    check(0 <= k <= (self.shape[dim] if self.dim() else 1), "k not in range for dimension")
    shape = [k if i == dim else n for i, n in enumerate(self.shape)]
    return self.new_empty(shape), self.new_empty(shape, dtype=torch.int64)
