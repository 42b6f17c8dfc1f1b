"""torch.fft: the operators whose names begin so."""
from . import _C
from ._missing import missing


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._fft, "fft_" + name, None)
    if function is None:
        missing("torch.fft." + name)
    return function
