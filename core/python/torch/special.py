"""torch.special: the operators whose names begin so."""
from . import _C
from ._missing import attribute

_missing = attribute("torch.special")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._special, "special_" + name, None)
    if function is None:
        return _missing(name)
    return function
