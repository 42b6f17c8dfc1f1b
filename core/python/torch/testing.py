"""Comparing tensors, and making random ones."""
import cmath
import math
from collections.abc import Mapping, Sequence

import torch

from . import _C
from ._missing import attribute

_TOLERANCES = {_C.float16: (1e-3, 1e-5), _C.bfloat16: (1.6e-2, 1e-5), _C.float32: (1.3e-6, 1e-5), _C.float64: (1e-7, 1e-7), _C.complex64: (1.3e-6, 1e-5), _C.complex128: (1e-7, 1e-7)}
_OF_NUMBERS = {int: _C.int64, float: _C.float64, complex: _C.complex128}


def _tolerances(dtypes, rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError("Both 'rtol' and 'atol' must be either specified or omitted, but got no %s." % ("'rtol'" if rtol is None else "'atol'"))
    if rtol is not None:
        return rtol, atol
    pairs = [_TOLERANCES.get(d, (0.0, 0.0)) for d in dtypes]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _difference(what, diff, index, allowed, equal):
    text = "%s difference: %s" % (what.title(), diff) if index is None else "Greatest %s difference: %s at index %s" % (what, diff, index)
    return text + ("" if equal else " (up to %s allowed)" % allowed)


class _Mismatch(Exception):
    def __init__(self, what, id, extra, absolute, relative, rtol, atol):
        equal = rtol == 0 and atol == 0
        text = "%s are not %s!\n\n%s\n" % (what, "equal" if equal else "close", extra)
        text += _difference("absolute", *absolute, atol, equal) + "\n" + _difference("relative", *relative, rtol, equal)
        super().__init__(text)


def _index(flat, shape):
    out = []
    for size in reversed(shape):
        flat, part = divmod(flat, size)
        out.append(part)
    return tuple(reversed(out))


def _of_scalars(actual, expected, rtol, atol, what="Scalars"):
    away = abs(actual - expected)
    return _Mismatch(what, None, "Expected %s but got %s." % (expected, actual), (away, None), (float("inf") if expected == 0 else away / abs(expected), None), rtol, atol)


def _of_tensors(actual, expected, matches, rtol, atol):
    count = matches.numel()
    wrong = count - int(torch.sum(matches))
    a, b, same = actual.flatten(), expected.flatten(), matches.flatten()
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        a, b = a.to(torch.int64), b.to(torch.int64)
    away = torch.abs(a - b)
    away[same] = 0
    most, at = torch.max(away, 0)
    relative = away / torch.abs(b)
    relative[same] = 0
    most_relative, at_relative = torch.max(relative, 0)
    return _Mismatch("Tensor-likes", None, "Mismatched elements: %d / %d (%s)" % (wrong, count, format(wrong / count, ".1%")),
                     (most.item(), _index(int(at), matches.shape)), (most_relative.item(), _index(int(at_relative), matches.shape)), rtol, atol)


class _Comparison:
    def __init__(self, rtol, atol, equal_nan, check_device, check_dtype, check_stride):
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.check_device, self.check_dtype, self.check_stride = check_device, check_dtype, check_stride

    def pairs(self, actual, expected, id=()):
        """[(function that compares, id)]: all are found before the first is compared."""
        if all(isinstance(x, Sequence) and not isinstance(x, str) for x in (actual, expected)):
            if len(actual) != len(expected):
                raise self.error("The length of the sequences mismatch: %d != %d" % (len(actual), len(expected)), id)
            return [p for i, (a, e) in enumerate(zip(actual, expected)) for p in self.pairs(a, e, (*id, i))]
        if all(isinstance(x, Mapping) for x in (actual, expected)):
            if set(actual) != set(expected):
                raise self.error("The keys of the mappings do not match:\nMissing keys in the actual mapping: %s\nAdditional keys in the actual mapping: %s"
                                 % (sorted(set(expected) - set(actual)), sorted(set(actual) - set(expected))), id)
            return [p for k in sorted(actual) for p in self.pairs(actual[k], expected[k], (*id, k))]
        if expected is None or actual is None:
            return [(lambda: self.check(actual is expected, "None mismatch: %s is not %s" % (actual, expected)), id)]
        if isinstance(actual, bool) and isinstance(expected, bool):
            return [(lambda: self.check(actual is expected, "Booleans mismatch: %s is not %s" % (actual, expected)), id)]
        if all(type(x) in _OF_NUMBERS for x in (actual, expected)):
            return [(lambda: self.numbers(actual, expected), id)]
        if isinstance(actual, type(expected)) or isinstance(expected, type(actual)):
            try:
                a, e = (x if isinstance(x, _C.TensorBase) else torch.as_tensor(x) for x in (actual, expected))
                return [(lambda: self.tensors(a, e), id)]
            except TypeError:
                pass
        raise TypeError("No comparison pair was able to handle inputs of type %s and %s." % (type(actual), type(expected)))

    @staticmethod
    def error(text, id):
        return AssertionError(text + ("\n\nThe failure occurred for item %s" % "".join("[%r]" % (i,) if isinstance(i, int) else "[%s]" % i for i in id) if id else ""))

    @staticmethod
    def check(fine, text):
        if not fine:
            raise ValueError(text)

    def numbers(self, actual, expected):
        if self.check_dtype and type(actual) is not type(expected):
            raise ValueError("The (d)types do not match: %s != %s." % (type(actual), type(expected)))
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        rtol, atol = _tolerances([_OF_NUMBERS[type(x)] for x in (actual, expected)], self.rtol, self.atol)
        away = abs(actual - expected)
        if not (cmath.isfinite(away) and away <= atol + rtol * abs(expected)):
            raise _of_scalars(actual, expected, rtol, atol)

    def tensors(self, actual, expected):
        rtol, atol = _tolerances([actual.dtype, expected.dtype], self.rtol, self.atol)
        for name, wanted in (("shape", True), ("stride()", self.check_stride), ("device", self.check_device), ("dtype", self.check_dtype)):
            a, e = (getattr(t, name.rstrip("()")) for t in (actual, expected))
            a, e = (a(), e()) if callable(a) else (a, e)
            self.check(not wanted or a == e, "The values for attribute '%s' do not match: %s != %s." % (name, a, e))
        if "meta" in (actual.device.type, expected.device.type):
            return
        if actual.dtype != expected.dtype:
            wide = torch.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(wide), expected.to(wide)
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if torch.all(matches):
            return
        if actual.dim() == 0:
            raise _of_scalars(actual.item(), expected.item(), rtol, atol)
        raise _of_tensors(actual, expected, matches, rtol, atol)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None):
    comparison = _Comparison(rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    for compare, id in comparison.pairs(actual, expected):
        try:
            compare()
        except (_Mismatch, ValueError) as e:
            if isinstance(e, ValueError) and "'rtol'" in str(e):
                raise
            error = comparison.error(str(e), id)
        else:
            continue
        raise error if msg is None else AssertionError(msg(str(error)) if callable(msg) else msg)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    whole = not dtype.is_floating_point and not dtype.is_complex
    if requires_grad and whole:
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype=%r" % dtype)
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    if dtype is torch.bool:
        limits, usual = (0, 2), (0, 2)
    elif whole:
        limits, usual = (torch.iinfo(dtype).min, torch.iinfo(dtype).max + (dtype is not torch.int64)), (-9, 10)
    else:
        limits, usual = (torch.finfo(dtype).min, torch.finfo(dtype).max), (-9, 9)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if low >= high and (whole or low != high):
        raise ValueError("`low` must be less than `high`, but got %s >= %s" % (low, high))
    low, high = (min(max(v, limits[0]), limits[1]) for v in (low, high))
    if whole:
        result = torch.randint(math.ceil(low), math.ceil(high), shape, device=device, dtype=dtype)
    else:
        result = torch.empty(shape, device=device, dtype=dtype)
        (torch.view_as_real(result) if dtype.is_complex else result).uniform_(low, high)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if whole else torch.finfo(dtype).tiny
    if not whole:
        result.requires_grad = requires_grad
    return result


__getattr__ = attribute("torch.testing")
