"""torch.cuda.amp: older names of what torch.amp has."""
import functools
import warnings

from .. import _C
from .._missing import attribute
from .. import amp as _amp


def _warn(what, instead):
    warnings.warn("`torch.cuda.amp.%s(args...)` is deprecated. Please use `torch.amp.%s` instead." % (what, instead), FutureWarning, stacklevel=3)


class autocast(_amp.autocast):
    def __init__(self, enabled=True, dtype=_C.float16, cache_enabled=True):
        _warn("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn("GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = functools.partial(_amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_amp.custom_bwd, device_type="cuda")
__getattr__ = attribute("torch.cuda.amp")
