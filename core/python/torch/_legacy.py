"""torch.FloatTensor and its kin: a class for each type, that makes tensors and knows them."""
from . import _C

_KINDS = {"FloatTensor": _C.float32, "DoubleTensor": _C.float64, "HalfTensor": _C.float16, "BFloat16Tensor": _C.bfloat16, "LongTensor": _C.int64, "IntTensor": _C.int32,
          "ShortTensor": _C.int16, "CharTensor": _C.int8, "ByteTensor": _C.uint8, "BoolTensor": _C.bool}


class _Kind(type):
    def __instancecheck__(cls, what):
        return isinstance(what, _C.TensorBase) and what.dtype is cls.dtype and what.is_cpu

    def __call__(cls, *args):
        """Sizes make one without values; a list or a tensor gives it values."""
        if len(args) == 1 and isinstance(args[0], _C.TensorBase):
            if args[0].dtype is not cls.dtype:
                raise TypeError("expected %s (got %s)" % (cls.__module__ + "." + cls.__name__, args[0].type()))
            return args[0].alias()
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and type(args[0]).__name__ != "Size":
            return _C._from_data(list(args[0]), cls.dtype)
        if len(args) == 1 and type(args[0]).__module__ == "numpy":
            return _C._as_tensor(args[0], cls.dtype, None)
        sizes = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        return _C._VariableFunctions.empty(tuple(sizes), dtype=cls.dtype)


CLASSES = {name: _Kind(name, (), {"dtype": dtype, "__module__": "torch", "is_cuda": False, "is_sparse": False}) for name, dtype in _KINDS.items()}


def name_of(dtype):
    return next(name for name, kind in {**_KINDS, "ComplexFloatTensor": _C.complex64, "ComplexDoubleTensor": _C.complex128}.items() if kind is dtype)


def dtype_named(name):
    """Of `torch.FloatTensor`, as x.type(...) takes it."""
    if name.startswith("torch.cuda."):
        raise AssertionError("Torch not compiled with CUDA enabled")
    kind = _KINDS.get(name[len("torch."):]) if name.startswith("torch.") else None
    if kind is None:
        raise ValueError("invalid type: '%s'" % name)
    return kind
