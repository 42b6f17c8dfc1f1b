"""Operators whose result has an element for each of their arguments'."""
import torch

from . import prims
from .registry import inplace, kernel
from .rules import (broadcast, check, check_same, checked_inplace, convert, elementwise_result, fits, is_integral, is_number, is_real, is_tensor, kind_of, promoted, result_type)


def _unary(name, kind, prim=None):
    prim = getattr(prims, prim or name)

    @kernel(name)
    @promoted(("a",), kind)
    def run(a):
        return prim(a)
    inplace(run, name + "_")


for _name in "acos acosh asin asinh atan atanh cos cosh digamma erf erfc exp exp2 expm1 lgamma log log10 log1p log2 reciprocal rsqrt sin sinh sqrt tan tanh".split():
    _unary(_name, "int_to_float")
_unary("erfinv", "int_to_float", "erf_inv")
for _name in "bitwise_not ceil floor sign trunc".split():
    _unary(_name, "default")
_unary("abs", "complex_to_float")


@kernel("neg")
@promoted(("a",))
def neg(a):
    check(a.dtype is not torch.bool, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return prims.neg(a)


@kernel("signbit")
@promoted(("a",), "bool")
def signbit(a):
    return prims.signbit(a)


@kernel("isnan")
@promoted(("a",), "bool")
def isnan(a):
    return prims.ne(a, a)


@kernel("sgn")
def sgn(self):
    return torch.sign(self) if not self.is_complex() else self / torch.abs(self)


@kernel("round", "round.decimals")
def round_(self, *, decimals=0):
    return elementwise_result([self])


@kernel("frac")
@promoted(("x",))
def frac(x):
    return prims.sub(x, prims.mul(prims.floor(prims.abs(x)), prims.sign(x)))


@promoted(("a",), "int_to_float")
def _sigmoid_steps(a):
    return prims.div(1, prims.add(1, prims.exp(prims.neg(a))))


@kernel("sigmoid")
def sigmoid(self):
    return torch.empty_like(self, dtype=result_type([self], "int_to_float")[1])


inplace(neg, "neg_")
inplace(_sigmoid_steps, "sigmoid_")


@kernel("logical_not")
def logical_not(a):
    return a == 0 if a.dtype is not torch.bool else ~a


def _binary(names, prim, kind="default", scalars=True, inplaces=()):
    prim = getattr(prims, prim)

    @kernel(*names)
    @promoted(("a", "b"), kind)
    def run(a, b):
        a, b = broadcast(a, b)
        return prim(a, b)
    if inplaces:
        inplace(run, *inplaces)
    return run


_by_name = {}
for _name in "eq ne ge gt le lt".split():
    _by_name[_name] = _binary((_name + ".Tensor", _name + ".Scalar"), _name, "bool", inplaces=(_name + "_.Tensor", _name + "_.Scalar"))
for _name in "bitwise_and bitwise_or bitwise_xor".split():
    _by_name[_name] = _binary((_name + ".Tensor", _name + ".Scalar"), _name, inplaces=(_name + "_.Tensor", _name + "_.Scalar"))
for _name in "fmod remainder".split():
    _by_name[_name] = _binary((_name + ".Tensor", _name + ".Scalar"), _name, inplaces=(_name + "_.Tensor", _name + "_.Scalar"))
for _name in "maximum minimum fmax fmin".split():
    _binary((_name,), _name)
_binary(("atan2",), "atan2", "int_to_float", inplaces=("atan2_",))
_binary(("hypot",), "hypot")
_binary(("nextafter",), "nextafter", "keep")
_binary(("mul.Tensor", "mul.Scalar"), "mul")


_fmod, _and, _xor, _ne, _lt, _gt = (_by_name[n] for n in ("fmod", "bitwise_and", "bitwise_xor", "ne", "lt", "gt"))


@kernel("copysign.Tensor")
@promoted(("a", "b"), "int_to_float")
def copysign(a, b):
    a, b = broadcast(a, b)
    negative = signbit(b)
    size = prims.abs(a)
    return where(negative, prims.neg(size), size)


def _checked_factor(name, factor, dtype):
    kind = kind_of(dtype)
    check(kind is bool or fits(type(factor), kind), lambda: "%s argument of type %s cannot be safely cast to type %s!" % (name, type(factor), kind), ValueError)


@kernel("add.Tensor")
@promoted(("a", "b"))
def add(a, b, *, alpha=None):
    a, b = broadcast(a, b)
    if alpha is not None:
        _checked_factor("alpha", alpha, (a if is_tensor(a) else b).dtype)
        b = prims.mul(b, alpha) if is_tensor(b) else b * alpha
    return prims.add(a, b)


@kernel("sub.Tensor")
@promoted(("a", "b"))
def sub(a, b, *, alpha=None):
    a, b = broadcast(a, b)
    check(not (is_tensor(a) and is_tensor(b)) or torch.bool not in (a.dtype, b.dtype),
          "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
    if alpha is not None and alpha != 1:
        _checked_factor("alpha", alpha, (a if is_tensor(a) else b).dtype)
        b = prims.mul(b, alpha) if is_tensor(b) else b * alpha
    return prims.sub(a, b)


_plain_sub = sub


@kernel("add.Scalar", "sub.Scalar")
def shifted(self, other, alpha=1):
    return elementwise_result([self, other])


@kernel("rsub.Tensor", "rsub.Scalar")
def rsub(a, b, alpha=1):
    return torch.sub(b, a, alpha=alpha)


@promoted(("a", "b"), "int_to_float")
def true_divide(a, b):
    a, b = broadcast(a, b)
    return prims.div(a, b)


def _whole_floor(a, b):
    a, b = broadcast(a, b)
    if not a.dtype.is_signed:
        return prims.div(a, b)
    away = (torch.signbit(a) != torch.signbit(b)).logical_and(torch.fmod(a, b) != 0)
    return prims.div(a, b) - convert(away, a.dtype)


def _real_floor(a, b):
    rest = _fmod(a, b)
    div = true_divide(_plain_sub(a, rest), b)
    signs = _xor(_lt(a, 0), _lt(b, 0))
    away = _and(_ne(rest, 0), signs)
    div = where(away, _plain_sub(div, 1), div)
    floor = prims.floor(div)
    floor = where(_gt(_plain_sub(div, floor), 0.5), prims.add(floor, 1.0), floor)
    basic = true_divide(a, b)
    zero = prims.scalar_tensor(0, dtype=basic.dtype, device=basic.device)
    floor = where(_ne(div, 0), floor, copysign(zero, basic))
    return where(_ne(b, 0), floor, basic)


@promoted(("a", "b"))
def floor_divide(a, b):
    if is_number(b):
        b = prims.scalar_tensor(b, dtype=a.dtype, device=a.device)
    if is_number(a):
        a = prims.scalar_tensor(a, dtype=b.dtype, device=b.device)
    check(a.dtype is not torch.bool, lambda: "%s not supported for floor_divide" % a.dtype)
    return _real_floor(a, b) if is_real(a.dtype) else _whole_floor(a, b)


@promoted(("a", "b"))
def trunc_divide(a, b):
    if is_integral((a if is_tensor(a) else b).dtype):
        a, b = broadcast(a, b)
        return prims.div(a, b)
    return torch.trunc(prims.div(*broadcast(a, b)))


@kernel("div.Tensor", "div.Scalar")
def div(a, b):
    return true_divide(a, b)


@kernel("div.Tensor_mode", "div.Scalar_mode")
def div_mode(a, b, *, rounding_mode=None):
    check(rounding_mode in (None, "trunc", "floor"), lambda: "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found %s." % rounding_mode, ValueError)
    return {None: true_divide, "trunc": trunc_divide, "floor": floor_divide}[rounding_mode](a, b)


@kernel("mul_.Tensor", "mul_.Scalar", "logical_and_", "logical_or_", "logical_xor_")
def written_(self, other):
    return checked_inplace(self, other)


@kernel("add_.Tensor", "add_.Scalar", "sub_.Tensor", "sub_.Scalar")
def shifted_(self, other, alpha=1):
    kind, given = kind_of(self.dtype), kind_of(other.dtype) if is_tensor(other) else type(other)
    check(kind is not int or given is not float, "Promotion of int.add/sub_(float) in in-place ops are not possible due to element size change.")
    check(kind is not bool or given is bool, "Promotion of bool.add/sub_(others) in in-place ops are not possible due to element size change.")
    return checked_inplace(self, other)


@kernel("div_.Tensor", "div_.Scalar")
def divided_(self, other):
    result = result_type([self, other], "int_to_float")[1]
    check(fits(kind_of(result), kind_of(self.dtype)), lambda: "result type %s can't be cast to the desired output type %s" % (result, self.dtype))
    return checked_inplace(self, other)


@kernel("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
@promoted(("a", "b"), "bool_to_long")
def power(a, b):
    if is_number(b):
        if b == 1.0:
            return a.clone()
        if b == 2.0:
            return a * a
        if b == 0.5:
            return torch.sqrt(a)
    elif is_number(a):
        if a == 1.0:
            return torch.fill(b, True)
        if a == 2.0 and kind_of(b.dtype) in (float, complex):
            return torch.exp2(b)
    a, b = broadcast(a, b)
    return prims.pow(a, b)


inplace(power, "pow_.Scalar", "pow_.Tensor")


def _as_bool(a):
    return a if a.dtype is torch.bool else a != 0


def _logical(name, both):
    @kernel(name)
    @promoted(("a", "b"), "bool")
    def run(a, b):
        a, b = broadcast(a, b)
        a = _as_bool(a)
        return both(a, _as_bool(b))


_logical("logical_and", lambda a, b: a & b)
_logical("logical_or", torch.bitwise_or)
_logical("logical_xor", lambda a, b: a ^ b)


@kernel("where.self")
@promoted(("a", "b"), "keep")
def where(pred, a, b):
    check_same([pred, a, b][:1])
    check(pred.dtype is torch.bool, lambda: "expected predicate to be bool, got %s" % pred.dtype)
    pred, a, b = broadcast(pred, a, b)
    return prims.where(pred, a, b)


@kernel("clamp", "clamp.Tensor")
@promoted(("a", "min", "max"))
def clamp(a, min=None, max=None):  # noqa: A002
    check(min is not None or max is not None, "clamp called but both min and max are none!", ValueError)
    if min is not None:
        unknown = torch.isnan(a)
        a = torch.where(torch.bitwise_or(torch.ge(a, min), unknown), a, min)
    if max is not None:
        unknown = torch.isnan(a)
        a = torch.where(torch.bitwise_or(torch.le(a, max), unknown), a, max)
    return a


@kernel("clamp_min", "clamp_min.Tensor")
def clamp_min(self, min):  # noqa: A002
    return torch.clamp(self, min=min)


@kernel("clamp_max", "clamp_max.Tensor")
def clamp_max(self, max):  # noqa: A002
    return torch.clamp(self, max=max)


inplace(clamp, "clamp_", "clamp_.Tensor")
inplace(clamp_min, "clamp_min_", "clamp_min_.Tensor")
inplace(clamp_max, "clamp_max_", "clamp_max_.Tensor")


@kernel("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self, mask, value):
    if is_tensor(value):
        check(value.dim() == 0, lambda: "only supports a 0-dimensional value tensor, but got tensor with %d dimension" % value.dim())
        check(value.device == self.device, "Expected `value` to be on same device as `a`")
    kind = kind_of(value.dtype) if is_tensor(value) else type(value)
    check(kind is not complex or kind_of(self.dtype) is complex, lambda: "could not convert to type %s without overflow" % kind_of(self.dtype))
    return torch.where(mask, convert(value, self.dtype), self).contiguous()


@kernel("lerp.Scalar", "lerp.Tensor")
def lerp(start, end, weight):
    check(start.dtype == end.dtype, lambda: "expected dtype %s for `end`, but got dtype %s" % (start.dtype, end.dtype))
    check(not is_tensor(weight) or weight.dim() == 0 or start.dtype == weight.dtype, lambda: "expected dtype %s for `weight`, but got dtype %s" % (start.dtype, weight.dtype))
    return elementwise_result([start, end] + [weight] * is_tensor(weight))


@kernel("addcmul")
def addcmul(self, tensor1, tensor2, *, value=1):
    return elementwise_result([self, tensor1, tensor2])


@kernel("addcdiv")
def addcdiv(self, tensor1, tensor2, *, value=1):
    return elementwise_result([self, tensor1, tensor2])


def _mixed(name, *overloads):
    def run(self, *args, **kwargs):
        return checked_inplace(self, getattr(torch.ops.aten, name)(self, *args, **kwargs))
    kernel(*overloads)(run)


_mixed("lerp", "lerp_.Scalar", "lerp_.Tensor")
_mixed("addcmul", "addcmul_")
_mixed("addcdiv", "addcdiv_")


@kernel("floor_divide")
def floor_divided(self, other):
    return torch.div(self, other, rounding_mode="floor")


@kernel("xlogy.Tensor")
@promoted(("self", "other"), "int_to_float")
def xlogy(self, other):
    out = torch.where(torch.eq(self, 0), 0, torch.mul(self, torch.log(other)))
    return torch.where(torch.isnan(other), float("nan"), out)


@kernel("logaddexp")
@promoted(("self", "other"), "int_to_float")
def logaddexp(self, other):
    larger = torch.real(self) >= torch.real(other)
    most = torch.where(larger, self, other)
    least = torch.where(larger, other, self)
    endless = torch.logical_not(torch.isfinite(torch.real(most)))
    same = torch.logical_and(endless, torch.real(self) == torch.real(other))
    return torch.where(same, self, most + torch.log1p(torch.exp(least - most)))


@kernel("nan_to_num")
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    return torch.empty_like(self)
