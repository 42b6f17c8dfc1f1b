"""Rules that kernels for tensors without data share: of types, of shapes that meet, of how a result lies in memory."""
import functools

import torch

_LEVELS = (bool, int, float, complex)
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_REAL = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}
_COMPLEX = {torch.float16: torch.complex32, torch.bfloat16: torch.complex64, torch.float32: torch.complex64, torch.float64: torch.complex128}
_COMPUTED_IN = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


def check(true, text, error=RuntimeError):
    if not true:
        raise error(text() if callable(text) else text)


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def is_number(x):
    return isinstance(x, (bool, int, float, complex))


def is_integer(dtype):
    return dtype in _INTEGERS


def is_real(dtype):
    return dtype in _FLOATS


def is_integral(dtype):
    return dtype in _INTEGERS or dtype is torch.bool


def kind_of(dtype):
    """The Python type whose numbers a type holds."""
    return bool if dtype is torch.bool else int if dtype in _INTEGERS else complex if dtype in _REAL else float


def dtype_of(number):
    """The type that a number alone makes."""
    if isinstance(number, bool):
        return torch.bool
    if isinstance(number, int):
        return torch.int64
    return _COMPLEX[torch.get_default_dtype()] if isinstance(number, complex) else torch.get_default_dtype()


def fits(kind, into):
    return _LEVELS.index(kind) <= _LEVELS.index(into)


def real_of(dtype):
    return _REAL.get(dtype, dtype)


def computed_in(dtype):
    return _COMPUTED_IN.get(dtype, dtype)


_ORDER = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64,
          torch.complex128)


def _higher(a, b):
    """`promote_types` without a hop."""
    if {a, b} == {torch.uint8, torch.int8}:
        return torch.int16
    if {a, b} == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(a, b, key=_ORDER.index)


def _highest(args, kinds, change=lambda d: d):
    """The highest type of these kinds among tensors with dimensions, else among those without."""
    for flat in (False, True):
        found = [change(a.dtype) for a in args if is_tensor(a) and (a.dim() == 0) == flat and kind_of(a.dtype) in kinds]
        if found:
            return functools.reduce(_higher, found)
    return None


def result_type(args, kind="default"):
    """(the type an elementwise operator computes in, that of its result)."""
    args = [a for a in args if a is not None]
    level = max((_LEVELS.index(kind_of(a.dtype) if is_tensor(a) else type(a)) for a in args), default=0)
    if level == 3:
        result = _highest(args, (float, complex), lambda d: _COMPLEX.get(d, d)) or _COMPLEX[torch.get_default_dtype()]
    elif level == 2:
        result = _highest(args, (float,)) or torch.get_default_dtype()
    elif level == 1:
        result = _highest(args, (int,)) or torch.int64
    else:
        result = torch.bool
    if kind == "keep":
        return result, result
    if kind == "int_to_float" and is_integral(result):
        result = torch.get_default_dtype()
    if kind == "bool_to_long" and result is torch.bool:
        result = torch.int64
    computed = computed_in(result)
    if kind == "complex_to_float":
        result = real_of(result)
    return computed, torch.bool if kind == "bool" else result


def convert(x, dtype):
    if x is None:
        return None
    if is_tensor(x):
        return x if x.dtype is dtype else x.to(dtype)
    return kind_of(dtype)(x)


def promoted(names, kind="default"):
    """The arguments at these places and with these names are brought to the type they are computed in, and the result to its own."""
    def wrap(f):
        parameters = f.__code__.co_varnames[:f.__code__.co_argcount + f.__code__.co_kwonlyargcount]
        places = [i for i, name in enumerate(parameters) if name in names]

        @functools.wraps(f)
        def run(*args, **kwargs):
            args = list(args)
            used = [args[i] for i in places if i < len(args)] + [kwargs[n] for n in names if n in kwargs]
            computed, result = result_type(used, kind)
            for i in places:
                if i < len(args):
                    args[i] = convert(args[i], computed)
            for n in names:
                if n in kwargs:
                    kwargs[n] = convert(kwargs[n], computed)
            out = f(*args, **kwargs)
            return tuple(convert(o, result) for o in out) if isinstance(out, (tuple, list)) else convert(out, result)
        return run
    return wrap


def cast_for_math(f=None, *, back=True):
    """Every tensor is cast to the type that results are computed in, even if it has it already, and what comes out to its own."""
    if f is None:
        return functools.partial(cast_for_math, back=back)

    @functools.wraps(f)
    def run(*args, **kwargs):
        computed, result = result_type([a for a in (*args, *kwargs.values()) if is_tensor(a)])

        def cast(x, dtype):
            return x.to(dtype) if is_tensor(x) else x
        out = f(*[cast(a, computed) for a in args], **{name: cast(a, computed) for name, a in kwargs.items()})
        if not back:
            return out
        return tuple(cast(o, result) for o in out) if isinstance(out, tuple) else cast(out, result)
    return run


def common_shape(shapes):
    out = [1] * max((len(s) for s in shapes), default=0)
    for at, shape in enumerate(shapes):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] == out[i] or shape[i] == 1:
                continue
            check(out[i] == 1, lambda: "Attempting to broadcast a dimension of length %d at %d! Mismatching argument at index %d had %s; but expected shape should be broadcastable to %s"
                  % (shape[i], i, at, torch.Size(shape), out))
            check(shape[i] >= 0, "Attempting to broadcast a dimension with negative length!")
            out[i] = shape[i]
    return out


def broadcast(*args):
    shape = common_shape([a.shape for a in args if is_tensor(a)])
    return [a.expand(shape) if is_tensor(a) and not _scalar(a) and list(a.shape) != shape else a for a in args]


def _scalar(t):
    """A tensor of one number at the CPU: it goes with tensors of any device."""
    return t.dim() == 0 and t.device.type == "cpu"


def check_same(args, scalars=True):
    """Of one device and one shape, but for the CPU's single numbers."""
    tensors = [a for a in args if is_tensor(a) and not (scalars and _scalar(a))]
    for t in tensors:
        check(t.device == tensors[0].device, lambda: "Tensor on device %s is not on the expected device %s!" % (t.device, tensors[0].device))
    for t in tensors:
        check(t.shape == tensors[0].shape, lambda: "Shape %s is not the expected shape %s!" % (t.shape, tensors[0].shape))
    return tensors


def _channels_last(t):
    if t.dim() != 4:
        return False
    step = 1
    for d in (1, 3, 2, 0):
        if t.shape[d] != 1 and t.stride(d) != step:
            return False
        step *= t.shape[d]
    return True


def _order(tensors, shape, a, b):
    """Below zero: dimension a lies inside b; above: b inside a; zero: either."""
    for t in tensors:
        x, y = t.stride(a), t.stride(b)
        if x == 0 or y == 0:
            continue
        if x == y:
            if shape[b] == 0 or shape[a] != 0 and shape[b] >= shape[a]:
                continue
            return 1
        return -1 if y > x or y % x == 0 else 1
    return 0


def physical_layout(tensors):
    """How the result of an elementwise operator lies: its dimensions from the outermost inward."""
    if not tensors or tensors[0].dim() == 0:
        return []
    dims = tensors[0].dim()
    if dims == 1:
        return [0]
    plain, last = all(t.is_contiguous() for t in tensors), all(_channels_last(t) for t in tensors)
    if plain and not last:
        return list(range(dims))
    if last and not plain:
        return [0, *range(2, dims), 1]
    order = list(reversed(range(dims)))
    for i in range(1, dims):
        at = i
        for before in reversed(range(i)):
            found = _order(tensors, tensors[0].shape, order[before], order[at])
            if found > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif found < 0:
                break
    return order[::-1]


def contiguous_strides(shape):
    out, step = [], 1
    for size in reversed(shape):
        out.append(step)
        step *= max(size, 1)
    return out[::-1]


def elementwise_strides(t):
    """Those of an elementwise operator's result for this one tensor."""
    order, strides, step = physical_layout([t]), [0] * t.dim(), 1
    for i in reversed(order):
        strides[i] = step
        step *= max(t.shape[i], 1)
    return strides


def elementwise_result(args, kind="default"):
    """An empty result for these arguments, whose types are promoted and whose shapes meet."""
    _, dtype = result_type(args, kind)
    tensors = check_same(broadcast(*args))
    return torch.empty_permuted(tensors[0].shape, physical_layout(tensors), dtype=dtype, device=tensors[0].device)


def wrap_dim(dim, rank):
    rank = rank or 1
    check(-rank <= dim < rank, lambda: "Dimension out of range (expected to be in range of [%d, %d], but got %d)" % (-rank, rank - 1, dim), IndexError)
    return dim % rank


def reduced_dims(t, dims):
    if dims is None:
        return list(range(t.dim()))
    dims = [wrap_dim(d, t.dim()) for d in ([dims] if isinstance(dims, int) else dims)]
    check(len(dims) == len(set(dims)), "duplicate value in the list of dims")
    return dims


def reduced_shape(t, dims, keepdim):
    return [1 if i in dims else n for i, n in enumerate(t.shape) if keepdim or i not in dims]


def memory_format_of(t):
    return torch.channels_last if _channels_last(t) and not t.is_contiguous() else torch.contiguous_format


def checked_inplace(self, other):
    """What is written must not grow."""
    if is_tensor(other):
        shape = common_shape([self.shape, other.shape])
        check(list(self.shape) == shape, lambda: "output with shape %s doesn't match the broadcast shape %s" % (self.shape, tuple(shape)))
    return self
