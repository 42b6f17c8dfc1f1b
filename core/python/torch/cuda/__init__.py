"""There are no GPUs in the embedded engine: what a build of PyTorch without CUDA answers."""
import contextlib

from .._devices import OutOfMemoryError  # noqa: F401
from .._missing import attribute
from . import amp  # noqa: F401


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def manual_seed(seed):
    """Without a GPU: nothing to do, as in PyTorch."""


manual_seed_all = manual_seed


def _nothing(*args, **kwargs):
    """Without a GPU: nothing to do."""


def _zero(device=None):
    return 0


def _no_gpu(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


empty_cache = reset_peak_memory_stats = ipc_collect = seed = seed_all = _nothing
memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _zero
init = current_device = get_device_name = get_device_properties = get_device_capability = synchronize = current_stream = default_stream = set_device = mem_get_info = _no_gpu
get_rng_state = set_rng_state = initial_seed = _no_gpu


def memory_stats(device=None):
    return {}


def get_arch_list():
    return []


class _NoDevice:
    """`with torch.cuda.device(...)`: none is chosen."""

    def __init__(self, device=None):
        self.idx = -1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


device = _NoDevice


def stream(stream):
    return contextlib.nullcontext() if stream is None else _no_gpu()


class Event:
    def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
        raise RuntimeError("Tried to instantiate dummy base class Event")


class Stream:
    def __new__(cls, device=None, priority=0, **kwargs):
        raise RuntimeError("Tried to instantiate dummy base class Stream")


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    for _ in new_states:
        _no_gpu()


default_generators = ()
__getattr__ = attribute("torch.cuda")
