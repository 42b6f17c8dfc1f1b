"""The embedded engine as the package `torch`: what a program imports under `peel --engine embedded`."""
from . import _missing
from . import _C
from ._C import *  # noqa: F401,F403  dtypes, formats, classes
from ._C import (device, dtype, get_default_dtype, is_grad_enabled, is_inference_mode_enabled, layout, memory_format, strided,  # noqa: F401
                 contiguous_format, preserve_format, channels_last, channels_last_3d, tensor)

__version__ = _C.__version__
float, double, half, long, int, short, bool = (_C.float32, _C.float64, _C.float16, _C.int64, _C.int32, _C.int16, _C.bool)  # noqa: A001
cfloat, cdouble = _C.complex64, _C.complex128
from math import e, inf, nan, pi  # noqa: E402,F401


for _kind in (_C.dtype, _C.device, _C.layout, _C.memory_format):
    _kind.__module__ = "torch"


class Size(tuple):
    """A shape: a tuple of ints."""

    def numel(self):
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self):
        return "torch.Size(%s)" % list(self)

    def __getitem__(self, i):
        part = tuple.__getitem__(self, i)
        return Size(part) if isinstance(i, slice) else part

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))


for _place, _prefix in (("_VariableFunctions", "torch"), ("_nn", "torch.nn.functional"), ("_linalg", "torch.linalg")):
    getattr(_C, _place).__getattr__ = _missing.attribute(_prefix, "torch._C." + _place)

from ._tensor import Tensor  # noqa: E402

_C._set_classes(Tensor, Size)
_C._set_plain_tensor(Tensor)
for _name in dir(_C._VariableFunctions):
    if not _name.startswith("__"):
        globals()[_name] = getattr(_C._VariableFunctions, _name)

from ._print import set_printoptions  # noqa: E402,F401
from .autograd.modes import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402,F401
from ._functions import *  # noqa: E402,F401,F403
from ._checks import _check, _check_index, _check_not_implemented, _check_type, _check_value, _check_with  # noqa: E402,F401
from ._settings import *  # noqa: E402,F401,F403
from ._legacy import CLASSES as _kinds  # noqa: E402
from .storage import CLASSES as _storages, TypedStorage, UntypedStorage  # noqa: E402,F401
from ._library import Tag  # noqa: E402,F401
from . import overrides  # noqa: E402,F401
from ._utils import _assert  # noqa: E402,F401
from . import _ops, _utils, amp, autograd, backends, compiler, cuda, distributions, fft, func, jit, library, linalg, nested, nn, optim, random, serialization, sparse, special, testing, utils, version  # noqa: E402,F401
from .func import vmap  # noqa: E402,F401
from .amp import autocast, get_autocast_dtype, is_autocast_available, is_autocast_cpu_enabled, is_autocast_enabled  # noqa: E402,F401
from .amp import GradScaler  # noqa: E402,F401
from ._devices import OutOfMemoryError, accelerator, cpu, mps, mtia, xpu  # noqa: E402,F401
from ._symbols import sym_float, sym_int, sym_ite, sym_max, sym_min, sym_not, sym_sqrt, sym_sum  # noqa: E402,F401
from ._lowrank import pca_lowrank, svd_lowrank  # noqa: E402,F401
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402,F401
from .sparse import sparse_bsc_tensor, sparse_bsr_tensor, sparse_compressed_tensor, sparse_coo_tensor, sparse_csc_tensor, sparse_csr_tensor  # noqa: E402,F401
from .serialization import load, save  # noqa: E402,F401

for _name in ("einsum", "split", "norm", "unique", "unique_consecutive", "tensordot", "cartesian_prod", "cdist", "broadcast_tensors", "meshgrid", "chain_matmul", "atleast_1d",
              "atleast_2d", "atleast_3d", "block_diag", "is_nonzero", "is_same_size"):
    globals()[_name] = overrides.asks(globals()[_name], {"split": 2, "norm": 1, "cdist": 2, "tensordot": 2, "meshgrid": 1, "unique": 1, "unique_consecutive": 1}.get(_name))
globals().update(_storages)
globals().update(_kinds)
_missing.homes("torch", {"functional": [atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_shapes, broadcast_tensors, cartesian_prod, cdist, chain_matmul, einsum, meshgrid, norm,  # noqa: F821
                                        split, tensordot, unique, unique_consecutive]})  # noqa: F821
spmm = dsmm = mm  # noqa: F821  of sparse left sides
newaxis = None
legacy_contiguous_format = contiguous_format
thread_safe_generator = random.thread_safe_generator

Storage = FloatStorage  # noqa: F821
ops = _ops.ops
from . import _meta  # noqa: E402,F401
_no_such = _missing.attribute("torch")


def __getattr__(name):
    """Modules that few programs want are read when they are asked for."""
    if name in ("fx", "multiprocessing", "profiler"):
        import importlib
        return importlib.import_module("torch." + name)
    return _no_such(name)


def _record():
    import os
    import sys
    program = os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] else sys.executable)
    why_not = _C._attach(program, sys.version.split()[0])
    if why_not:
        print("peel: not recorded: %s" % why_not, file=sys.stderr)
    elif _C._is_recording():
        from . import _questions
        _C._answers(*_questions.answers(sys.modules["torch"]))


_record()
