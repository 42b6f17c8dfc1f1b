"""torch.linalg: the operators whose names begin so."""
from . import _C
from ._missing import attribute

LinAlgError = _C._LinAlgError
_missing = attribute("torch.linalg")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._linalg, "linalg_" + name, None)
    if function is None:
        return _missing(name)
    return function
