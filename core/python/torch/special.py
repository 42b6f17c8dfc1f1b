"""torch.special: the operators whose names begin so."""
from . import _C
from ._missing import missing


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._special, "special_" + name, None)
    if function is None:
        missing("torch.special." + name)
    return function
