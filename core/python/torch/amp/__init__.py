"""Autocast on the CPU."""
import functools
import warnings

from .. import _C
from .._missing import attribute, homes, missing


def is_autocast_enabled(device_type="cpu"):
    return device_type == "cpu" and _C._is_autocast_cpu()


def get_autocast_dtype(device_type="cpu"):
    return _C.float16 if device_type == "cuda" else _C._autocast_dtype()


def is_autocast_available(device_type):
    return device_type in ("cpu", "cuda")


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError("Expected `device_type` of type `str`, got: `%s`" % type(device_type))
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if device_type == "cuda":
            if enabled:
                warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            self._enabled = False
            self._contexts = None
            return
        if device_type != "cpu":
            missing("autocast for " + device_type)
        if enabled and self.fast_dtype not in (_C.bfloat16, _C.float16):
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                          stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype is _C.float16:
            missing("autocast with torch.float16")
        self._enabled = enabled
        self._contexts = []
        self._options = (enabled, self.fast_dtype, True if cache_enabled is None else cache_enabled)

    def __enter__(self):
        if self._contexts is not None:
            context = _C._Autocast(*self._options)
            context.__enter__()
            self._contexts.append(context)
        return self

    def __exit__(self, *error):
        if self._contexts is not None:
            self._contexts.pop().__exit__(*error)
        return False

    def __call__(self, function):
        if not callable(function):
            raise TypeError("autocast()(func) requires a callable, but got %s. Did you mean to use autocast as a context manager? For example:\n    with torch.autocast(device_type=...):\n"
                            "        output = model(input)" % type(function).__name__)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapper


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    if cast_inputs is not None:
        missing("torch.amp.custom_fwd(cast_inputs=...)")

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        ctx._dtype, ctx._fwd_used_autocast = get_autocast_dtype(device_type), is_autocast_enabled(device_type)
        return fwd(ctx, *args, **kwargs)
    return forward


def custom_bwd(bwd=None, *, device_type):
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)
    return backward


class GradScaler:
    """Scaled losses are of use on a GPU; elsewhere this lets everything through."""

    def __init__(self, device="cuda", init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        if enabled and device != "cuda":
            missing("torch.amp.GradScaler(%r)" % device)
        if enabled:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
        self._device, self._enabled = device, False

    def scale(self, outputs):
        return outputs

    def unscale_(self, optimizer):
        """Nothing was scaled."""

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """There is no scale."""

    def get_scale(self):
        return 1.0

    def is_enabled(self):
        return False

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        """It has none."""


def is_autocast_cpu_enabled():
    return is_autocast_enabled("cpu")


homes("torch.amp", {"autocast_mode": [autocast, custom_fwd, custom_bwd, is_autocast_available], "grad_scaler": [GradScaler]})
__getattr__ = attribute("torch.amp")
