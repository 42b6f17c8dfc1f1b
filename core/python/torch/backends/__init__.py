"""Which libraries there are, and their switches: kept, and of no effect."""
import contextlib
import sys
import types

from .._missing import attribute

_TABLE = {
    "cudnn": {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True, "benchmark_limit": 10},
    "cuda": {}, "mps": {}, "mkl": {}, "mkldnn": {"enabled": True, "deterministic": False}, "openmp": {}, "opt_einsum": {"enabled": True, "strategy": None},
}
_AVAILABLE = {"mkl": True, "mkldnn": True, "openmp": True}


def _module(name, switches):
    full = "torch.backends." + name
    module = types.ModuleType(full)
    vars(module).update(switches)
    module.is_available = lambda: _AVAILABLE.get(name, False)
    module.__getattr__ = attribute(full)
    sys.modules[full] = module
    return module


globals().update({name: _module(name, switches) for name, switches in _TABLE.items()})
cuda.matmul = types.SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True)  # noqa: F821
cuda.is_built = mps.is_built = lambda: False  # noqa: F821
cudnn.version = lambda: None  # noqa: F821


@contextlib.contextmanager
def _flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    before = {name: getattr(cudnn, name) for name in _TABLE["cudnn"]}  # noqa: F821
    vars(cudnn).update(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic, allow_tf32=allow_tf32)  # noqa: F821
    try:
        yield
    finally:
        vars(cudnn).update(before)  # noqa: F821


cudnn.flags = _flags  # noqa: F821
__getattr__ = attribute("torch.backends")
