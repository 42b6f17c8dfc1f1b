"""torch.Tensor: operators that Python spells with signs, and what is Python in PyTorch too."""
import functools

from . import _C
from ._missing import Missing, in_stock, missing, sentence


def _operator(name, swapped=False, method=None):
    """An operator's sign. Operands that it can't take make Python say so."""
    def call(self, other):
        f = getattr(_C.TensorBase, name, None)
        if f is None:
            missing("Tensor." + name)
        try:
            return f(self, other)
        except TypeError:
            return NotImplemented
    call.__name__ = method or name
    return call


def _wrapped(f):
    @functools.wraps(f)
    def call(*args):
        if _C._overridden(args, None):
            return _C._call_overridden(call, args, {})
        try:
            return f(*args)
        except TypeError:
            return NotImplemented
    return call


def _function(name):
    f = getattr(_C._VariableFunctions, name, None)
    if f is None:
        missing("torch." + name)
    return f


_NUMPY_KINDS = {_C.float32: "<f4", _C.float64: "<f8", _C.float16: "<f2", _C.int64: "<i8", _C.int32: "<i4", _C.int16: "<i2", _C.int8: "|i1", _C.uint8: "|u1", _C.bool: "|b1",
                _C.complex64: "<c8", _C.complex128: "<c16"}


class _Lent:
    """A tensor's memory as NumPy takes it; the array that looks at it keeps this."""

    def __init__(self, t):
        if t.dtype not in _NUMPY_KINDS:
            raise TypeError("Got unsupported ScalarType %s" % str(t.dtype)[6:].replace("bfloat16", "BFloat16"))
        self.tensor = t
        self.__array_interface__ = {"version": 3, "typestr": _NUMPY_KINDS[t.dtype], "shape": tuple(t.shape), "strides": tuple(s * t.itemsize for s in t.stride()),
                                    "data": (t.data_ptr(), False)}


class _Hook:
    """Takes a hook away again."""

    def __init__(self, remove, tensor, id):
        self._remove, self._tensor, self.id = remove, tensor, id

    def remove(self):
        self._remove(self._tensor, self.id)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


@functools.cache
def _as_they_are():
    """Functions whose results keep their class."""
    from .overrides import get_default_nowrap_functions
    return get_default_nowrap_functions()


def _of_class(made, cls):
    if isinstance(made, Tensor):
        return made if cls is Tensor or isinstance(made, cls) else made.as_subclass(cls)
    if isinstance(made, (tuple, list)):
        return type(made)(_of_class(one, cls) for one in made)
    return made


def _product(sizes):
    n = 1
    for size in sizes:
        n *= size
    return n


class Tensor(_C.TensorBase):
    def __new__(cls, *args, dtype=None, device=None, requires_grad=False):
        if len(args) == 1 and isinstance(args[0], _C.TensorBase):
            made = args[0].detach()
        elif len(args) == 1 and not isinstance(args[0], int):
            made = _C._from_data(args[0], _C.float32)
        else:
            made = _C._VariableFunctions.empty(*args) if args else _C._VariableFunctions.empty(0)
        if cls is not Tensor:
            made.__class__ = cls
        return made.requires_grad_() if requires_grad else made

    def __init__(self, *args, **kwargs):
        pass

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__torch_function__ is not _C._disabled_torch_function_impl:
            from .overrides import ask_in
            ask_in(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What classes that derive from this one do: the same, with results of their class."""
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with _C.DisableTorchFunctionSubclass():
            made = func(*args, **(kwargs or {}))
            return made if func in _as_they_are() else _of_class(made, cls)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        from . import autograd
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def tolist(self):
        return _C._values(self.resolve_conj().resolve_neg())

    def type(self, dtype=None, non_blocking=False, **kwargs):
        from . import _legacy
        if dtype is None:
            return "torch." + _legacy.name_of(self.dtype)
        return self.to(_legacy.dtype_named(dtype) if isinstance(dtype, str) else dtype if isinstance(dtype, _C.dtype) else dtype.dtype)

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        return self.to("cuda" if device is None else device)

    def pin_memory(self, device=None):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def share_memory_(self):
        return self

    def is_shared(self):
        return False

    def is_signed(self):
        return self.dtype.is_signed

    def is_distributed(self):
        return False

    def is_set_to(self, tensor):
        return (self.untyped_storage()._same_as(tensor.untyped_storage()) and self.storage_offset() == tensor.storage_offset() and self.shape == tensor.shape
                and self.stride() == tensor.stride())

    def dim_order(self, *, ambiguity_check=False):
        return tuple(sorted(range(self.dim()), key=lambda d: -self.stride()[d]))

    def const_data_ptr(self):
        return self.data_ptr()

    def as_subclass(self, cls):
        return _C._as_subclass(cls, self)

    def apply_(self, callable):
        """Each element by a function of Python."""
        if self.requires_grad:
            raise TypeError("apply_ can only be called on CPU tensors" if not self.is_cpu else "Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
        from .autograd.modes import no_grad
        with no_grad():
            values = _C.tensor([callable(v) for v in self.reshape(-1).tolist()], dtype=self.dtype)
            return self.copy_(values.view(self.shape))

    def resize(self, *sizes):
        import warnings
        warnings.warn("non-inplace resize is deprecated", stacklevel=2)
        sizes = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        return self.clone().resize_(*sizes) if self.numel() != _product(sizes) else self.view(*sizes)

    def storage_type(self):
        return type(self._typed_storage())

    def reinforce(self, reward):
        raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead.\nSee https://pytorch.org/docs/main/distributions.html")

    @property
    def retains_grad(self):
        return _C._retains_grad(self)

    @property
    def names(self):
        return (None,) * self.dim()

    name = None
    volatile = False
    is_mkldnn = is_vulkan = is_xla = is_ipu = is_maia = is_mtia = False
    __array_priority__ = 1000

    @property
    def real(self):
        return _C.TensorBase.real(self)

    @real.setter
    def real(self, value):
        _C.TensorBase.real(self).copy_(value)

    @property
    def imag(self):
        return _C.TensorBase.imag(self)

    @imag.setter
    def imag(self, value):
        _C.TensorBase.imag(self).copy_(value)

    @property
    def _backward_hooks(self):
        return None

    def _is_view(self):
        return self._base is not None

    def __setstate__(self, state):
        self.set_(*state[:4])

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        return _C.tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def retain_grad(self):
        _C._retain_grad(self)

    def register_hook(self, hook):
        return _Hook(_C._remove_hook, self, _C._register_hook(self, hook))

    def register_post_accumulate_grad_hook(self, hook):
        return _Hook(_C._remove_after_accumulate, self, _C._register_after_accumulate(self, hook))

    def __len__(self):
        if self.dim() == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self):
        return self.is_nonzero()

    def _number(self):
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __float__(self):
        return float(self._number())

    def __int__(self):
        return int(self._number())

    def __index__(self):
        if self.numel() != 1 or self.is_floating_point() or self.is_complex():
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __complex__(self):
        return complex(self._number())

    def __format__(self, spec):
        if self.dim() == 0 and type(self) is Tensor:
            return self.detach().item().__format__(spec)
        return object.__format__(self, spec)

    def __repr__(self, *, tensor_contents=None):
        from ._print import text
        if _C._dispatch_modes():
            from .utils._python_dispatch import _disable_current_modes
            with _disable_current_modes():
                return text(self)
        return text(self)

    def __hash__(self):
        return id(self)

    def __reversed__(self):
        return self.flip(0) if self.dim() else self

    def __contains__(self, element):
        return (element == self).any().item()

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to "
                               "deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
        if id(self) in memo:
            return memo[id(self)]
        from .autograd.modes import no_grad
        with no_grad():
            memory = self.untyped_storage()
            key = "storage", memory.data_ptr(), memory.nbytes()
            if key not in memo:
                memo[key] = memory.clone()
            copy = self.new_empty([]).set_(memo[key], self.storage_offset(), tuple(self.shape), self.stride())
            if type(self) is not Tensor:
                copy = self._same_class(copy)
            copy.requires_grad = self.requires_grad
            if self.grad is not None:
                copy.grad = self.grad.__deepcopy__(memo)
        memo[id(self)] = copy
        return copy

    def _same_class(self, data):
        return data if type(self) is Tensor else _C._make_subclass(type(self), data, self.requires_grad)

    def to_sparse_coo(self):
        return self.to_sparse()

    def untyped_storage(self):
        if self.layout is not _C.strided:
            raise NotImplementedError("Cannot access storage of %s" % ("SparseTensorImpl" if self.is_sparse else "SparseCsrTensorImpl"))
        from .storage import UntypedStorage
        return UntypedStorage.of(self)

    def storage(self):
        return self._typed_storage()

    def _typed_storage(self):
        from .storage import class_of
        return class_of(self.dtype)(wrap_storage=self.untyped_storage())

    def __reduce_ex__(self, protocol):
        from collections import OrderedDict
        from . import _utils
        from .nn.parameter import Parameter
        data = (self._typed_storage(), self.storage_offset(), tuple(self.shape), self.stride(), self.requires_grad, OrderedDict())
        if isinstance(self, Parameter):
            return _utils._rebuild_parameter, (self.data, self.requires_grad, OrderedDict())
        if not self.is_leaf:
            raise RuntimeError("cannot pickle a tensor that is no leaf")
        return _utils._rebuild_tensor_v2, data

    def numpy(self, *, force=False):
        import numpy
        if self.layout is not _C.strided:
            raise TypeError("can't convert %s layout tensor to numpy. Use Tensor.to_dense() first." % ("Sparse" if self.is_sparse else "SparseCsr"))
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.is_conj() and not force:
            raise RuntimeError("Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.")
        t = self.detach().cpu().resolve_conj().resolve_neg()
        return numpy.asarray(_Lent(t))

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        from . import from_numpy
        return from_numpy(array)

    def split(self, split_size, dim=0):
        from . import _functions
        return _functions._V.split(self, split_size, dim) if isinstance(split_size, int) else _functions._V.split_with_sizes(self, split_size, dim)

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        from ._functions import norm
        return norm(self, p, dim, keepdim, dtype=dtype)

    def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None, align_to_window=None):
        from ._functions import stft
        return stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window)

    def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False):
        return _C._VariableFunctions.istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex=return_complex)

    def lu(self, pivot=True, get_infos=False):
        from ._functions import lu
        return lu(self, pivot, get_infos)

    def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
        from ._functions import unique
        return unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
        from ._functions import unique_consecutive
        return unique_consecutive(self, return_inverse, return_counts, dim)

    def nonzero(self, *, as_tuple=False):
        return _C._nonzero_numpy(self) if as_tuple else _C.TensorBase.nonzero(self)

    def new(self, *args, device=None):
        if self.is_sparse and len(args) == 3:
            return _C._sparse_of(args[0], args[1], list(args[2]))
        if len(args) == 1 and isinstance(args[0], _C.TensorBase):
            return args[0].alias()
        if len(args) == 1 and not isinstance(args[0], (int, tuple)):
            return _C._from_data(args[0], self.dtype)
        from ._ops import ops
        return ops.aten.empty.memory_format(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args or (0,), dtype=self.dtype, device=self.device)

    def unflatten(self, dim, sizes):
        return _C.TensorBase.unflatten(self, dim, sizes)

    def __getattr__(self, name):
        if name.startswith("__") or not in_stock("torch.Tensor", name):
            raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
        missing("Tensor." + name)

    @_wrapped
    def __rsub__(self, other):
        return _function("rsub")(self, other)

    def __rdiv__(self, other):
        return self.reciprocal() * other
    __rtruediv__ = __rdiv__ = _wrapped(__rdiv__)

    @_wrapped
    def __rpow__(self, other):
        return _function("pow")(other, self)

    @_wrapped
    def __floordiv__(self, other):
        return _function("floor_divide")(self, other)

    @_wrapped
    def __rfloordiv__(self, other):
        return _function("floor_divide")(other, self)

    @_wrapped
    def __rmod__(self, other):
        return _function("remainder")(other, self)

    @_wrapped
    def __rand__(self, other):
        return _function("bitwise_and")(self, other)

    @_wrapped
    def __ror__(self, other):
        return _function("bitwise_or")(self, other)

    @_wrapped
    def __rxor__(self, other):
        return _function("bitwise_xor")(self, other)

    @_wrapped
    def __lshift__(self, other):
        return _C.TensorBase.__lshift__(self, other) if hasattr(_C.TensorBase, "__lshift__") else missing("Tensor << number")

    @_wrapped
    def __rshift__(self, other):
        return _C.TensorBase.__rshift__(self, other) if hasattr(_C.TensorBase, "__rshift__") else missing("Tensor >> number")

    @_wrapped
    def __rmatmul__(self, other):
        return _function("matmul")(other, self)

    def conj(self):
        return self._conj() if self.is_complex() else self

    def __neg__(self):
        return self.neg()

    def __pos__(self):
        return self

    def __abs__(self):
        return self.abs()

    def __invert__(self):
        return self.bitwise_not()


for _sign, _name in {"__lshift__": "__lshift__", "__rshift__": "__rshift__", "__ilshift__": "__ilshift__", "__irshift__": "__irshift__",
                     "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_", "__mul__": "mul", "__rmul__": "mul",
                     "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_", "__pow__": "pow", "__ipow__": "pow_", "__matmul__": "matmul",
                     "__mod__": "remainder", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
                     "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__and__": "__and__", "__or__": "__or__", "__xor__": "__xor__", "__iand__": "__iand__", "__ior__": "__ior__", "__ixor__": "__ixor__"}.items():
    setattr(Tensor, _sign, _operator(_name, method=_sign))
Tensor.__eq__ = _wrapped(Tensor.__eq__)
Tensor.__module__ = "torch"
