"""torch.fft: the operators whose names begin so."""
from . import _C
from ._missing import attribute

_missing = attribute("torch.fft")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._fft, "fft_" + name, None)
    if function is None:
        return _missing(name)
    return function
