"""Functions of torch that are Python there too, or ask about values and shapes without an operator."""
from . import _C
from ._missing import missing

__all__ = ["is_tensor", "is_floating_point", "is_complex", "is_storage", "numel", "as_tensor", "asarray", "from_numpy", "broadcast_shapes", "typename", "einsum", "split",
           "norm", "unique", "tensordot", "cartesian_prod", "is_nonzero", "is_inference", "is_conj", "is_neg", "is_same_size", "get_device", "atleast_1d", "atleast_2d",
           "cdist", "broadcast_tensors", "meshgrid", "normal", "result_type", "finfo", "iinfo", "compile", "conj", "frombuffer", "from_dlpack", "chain_matmul",
           "is_distributed", "is_signed", "atleast_3d", "block_diag", "nonzero", "unique_consecutive", "unravel_index", "stft", "lu"]


def is_tensor(x):
    return isinstance(x, _C.TensorBase)


def is_storage(x):
    from .storage import TypedStorage, UntypedStorage
    return isinstance(x, (TypedStorage, UntypedStorage))


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


_V = _C._VariableFunctions
_NUMPY_TYPES = {"f4": _C.float32, "f8": _C.float64, "f2": _C.float16, "i8": _C.int64, "i4": _C.int32, "i2": _C.int16, "i1": _C.int8, "u1": _C.uint8, "b1": _C.bool,
                "c8": _C.complex64, "c16": _C.complex128}


def is_array(data):
    return type(data).__module__ == "numpy" and type(data).__name__ == "ndarray"


def looks_at(array):
    """The array's memory as a tensor, without a call of an operator."""
    face = array.__array_interface__
    kind = face["typestr"][1:]
    if face["typestr"][0] == ">" or kind not in _NUMPY_TYPES:
        raise TypeError("can't convert np.ndarray of type numpy.%s. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
                        "uint64, uint32, uint16, uint8, and bool." % array.dtype.name)
    size = array.dtype.itemsize
    if any(s < 0 for s in array.strides):
        raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work "
                         "around this by making a copy of your array  with array.copy().) ")
    if any(s % size for s in array.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
    return _C._from_memory(face["data"][0], list(array.shape), [s // size for s in array.strides], _NUMPY_TYPES[kind], array)


def from_numpy(array):
    if not is_array(array):
        raise TypeError("expected np.ndarray (got %s)" % type(array).__name__)
    return _C._lift(looks_at(array))


def as_tensor(data, dtype=None, device=None):
    if is_tensor(data):
        return data.to(data.device if device is None else device, data.dtype if dtype is None else dtype)
    return _C._as_tensor(data, dtype, device)


def asarray(data, *, dtype=None, device=None, copy=None, requires_grad=False):
    if copy:
        made = _C.tensor(data, dtype=dtype, device=device) if not is_tensor(data) else data.clone()
    else:
        made = data if is_tensor(data) and dtype is None and device is None else as_tensor(data, dtype=dtype, device=device)
    return made.requires_grad_() if requires_grad else made


def typename(x):
    if is_tensor(x):
        return x.type()
    module = ""
    if hasattr(x, "__module__") and x.__module__ not in ("builtins", "__builtin__", None):
        module = x.__module__ + "."
    return module + (x.__qualname__ if hasattr(x, "__qualname__") else x.__name__ if hasattr(x, "__name__") else type(x).__name__)


def _method(name):
    def function(input, *args):
        return getattr(input, name)(*args)
    function.__name__ = name
    return function


is_nonzero, is_inference, is_conj, is_neg, is_same_size, get_device, is_signed = map(_method, ("is_nonzero", "is_inference", "is_conj", "is_neg", "is_same_size", "get_device", "is_signed"))
conj = _method("conj")


def is_distributed(input):
    return False


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    import numpy
    kind = next((k for k, t in _NUMPY_TYPES.items() if t is dtype), None)
    if kind is None:
        missing("torch.frombuffer(dtype=%s)" % dtype)
    made = looks_at(numpy.frombuffer(buffer, dtype=kind, count=count, offset=offset))
    return made.requires_grad_() if requires_grad else made


def from_dlpack(ext_tensor):
    import numpy
    return ext_tensor if is_tensor(ext_tensor) else from_numpy(numpy.from_dlpack(ext_tensor))


def chain_matmul(*matrices, out=None):
    missing("torch.chain_matmul")


def result_type(tensor1, tensor2):
    if not is_tensor(tensor1) and not is_tensor(tensor2):
        kinds = {bool: _C.bool, int: _C.int64, float: _C.get_default_dtype(), complex: _C.complex64}
        return _V.promote_types(kinds[type(tensor1)], kinds[type(tensor2)])
    return _V.result_type(tensor1, tensor2)


def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return _V.einsum(equation, list(operands))


def split(tensor, split_size_or_sections, dim=0):
    return tensor.split(split_size_or_sections, dim)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    from . import linalg
    if p == "nuc":
        return linalg.matrix_norm(input, "nuc", (0, 1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError("only valid string values are 'fro' and 'nuc', found %s" % p)
    if input.layout is not _C.strided and out is None:
        dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
        if p in (None, "fro"):
            return _C._VariableFunctions.norm(input, 2.0, [] if dim is None else dims, keepdim)
        return _C._VariableFunctions.norm(input, p, dims, keepdim)
    return linalg.vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype, out=out)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        values, inverse, counts = _V.unique_dim(input, dim, sorted, return_inverse, return_counts)
        wanted = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
        return wanted if len(wanted) > 1 else values
    values, inverse, counts = _V._unique2(input, sorted, return_inverse, return_counts)
    wanted = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return wanted if len(wanted) > 1 else values


def tensordot(a, b, dims=2, out=None):
    if is_tensor(dims):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError("tensordot expects dims >= 0, but got dims=%d" % dims)
        return _V.tensordot(a, b, list(range(-dims, 0)), list(range(dims)))
    left, right = dims
    return _V.tensordot(a, b, [left] if isinstance(left, int) else list(left), [right] if isinstance(right, int) else list(right))


def _tensors(given):
    return list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)


def cartesian_prod(*tensors):
    return _V.cartesian_prod(_tensors(tensors))


def broadcast_tensors(*tensors):
    return _V.broadcast_tensors(_tensors(tensors))


def meshgrid(*tensors, indexing=None):
    if indexing is None:
        return _V.meshgrid(_tensors(tensors))
    return _V.meshgrid(_tensors(tensors), indexing=indexing)


def atleast_1d(*tensors):
    return _V.atleast_1d(tensors[0] if len(tensors) == 1 else list(tensors))


def atleast_2d(*tensors):
    return _V.atleast_2d(tensors[0] if len(tensors) == 1 else list(tensors))


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    values, inverse, counts = _V.unique_consecutive(input, return_inverse, return_counts, dim)
    wanted = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return wanted if len(wanted) > 1 else values


def nonzero(input, *, out=None, as_tuple=False):
    if as_tuple:
        return _C._nonzero_numpy(input)
    return _V.nonzero(input) if out is None else _V.nonzero(input, out=out)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError("%s is not a valid value for compute_mode" % compute_mode)
    return _V.cdist(x1, x2, p, modes[compute_mode])


def block_diag(*tensors):
    return _V.block_diag(_tensors(tensors))


def chain_matmul(*matrices, out=None):
    return _V.chain_matmul(_tensors(matrices))


def atleast_3d(*tensors):
    return _V.atleast_3d(tensors[0] if len(tensors) == 1 else list(tensors))


def normal(mean, std=1.0, size=None, **options):
    if is_tensor(mean) or is_tensor(std):
        return _V.normal(mean, std, **options)
    return _V.normal(float(mean), float(std), tuple(size), **options)


def unravel_index(indices, shape):
    if indices.is_complex() or indices.is_floating_point() or indices.dtype is _C.bool:
        raise TypeError("expected 'indices' to be integer dtype, but got %s" % indices.dtype)
    if is_tensor(shape) or not hasattr(shape, "__iter__") and not isinstance(shape, int):
        raise TypeError("expected 'shape' to be int or sequence of ints, but got %s" % type(shape))
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError("expected 'shape' sequence to only contain ints, but got %s" % type(size))
    if any(size < 0 for size in sizes):
        raise ValueError("'shape' cannot have negative values, but got %s" % (tuple(sizes),))
    steps = [1] * max(1, len(sizes))
    for i in range(len(sizes) - 1, 0, -1):
        steps[i - 1] = steps[i] * sizes[i]
    places = indices.unsqueeze(-1).floor_divide(_C.tensor(steps, dtype=_C.int64)) % _C.tensor(sizes, dtype=_C.int64)
    return places.unbind(-1)


class finfo:
    """The limits of a floating type."""
    _BITS = {"float32": (32, 23, 127, 6), "float64": (64, 52, 1023, 15), "bfloat16": (16, 7, 127, 2), "float16": (16, 10, 15, 3)}

    def __init__(self, type=None):
        self.dtype = str(_C.get_default_dtype() if type is None else type)[6:]
        if self.dtype not in self._BITS:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        self.bits, mantissa, exponent, digits = self._BITS[self.dtype]
        self.eps = 2.0 ** -mantissa
        self.max = (2 - self.eps) * 2.0 ** exponent
        self.min, self.tiny, self.resolution = -self.max, 2.0 ** (1 - exponent), 10.0 ** -digits
        self.smallest_normal = self.tiny

    def __repr__(self):
        return ("finfo(resolution=%g, min=%g, max=%g, eps=%g, smallest_normal=%g, tiny=%g, dtype=%s)"
                % (self.resolution, self.min, self.max, self.eps, self.smallest_normal, self.tiny, self.dtype))


class iinfo:
    """The limits of a whole type."""

    def __init__(self, type):
        self.dtype = str(type)[6:]
        if self.dtype not in ("int64", "int32", "int16", "int8", "uint8"):
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        self.bits = int(self.dtype.lstrip("uint"))
        signed = self.dtype[0] != "u"
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0

    def __repr__(self):
        return "iinfo(min=%g, max=%g, dtype=%s)" % (self.min, self.max, self.dtype)


def compile(model=None, **options):
    missing("torch.compile")


def broadcast_shapes(*shapes):
    from . import Size
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in shapes), default=0)
    for shape in shapes:
        for i in range(1, len(shape) + 1):
            if shape[-i] != 1:
                if result[-i] not in (1, shape[-i]):
                    raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
                result[-i] = shape[-i]
    return Size(result)


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None, align_to_window=None):
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        from .nn.functional import pad
        dims, half = input.dim(), int(n_fft // 2)
        input = pad(input.view([1] * (3 - dims) + list(input.size())), [half, half], pad_mode)
        input = input.view(input.shape[-dims:])
    return _V.stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)


def lu(A, pivot=True, get_infos=False, out=None):
    factors, pivots, infos = _V._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    given = (factors, pivots, infos) if get_infos else (factors, pivots)
    if out is None:
        return given
    for to, one in zip(out, given):
        to.resize_as_(one).copy_(one)
    return out
