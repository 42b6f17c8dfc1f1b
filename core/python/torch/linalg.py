"""torch.linalg: the operators whose names begin so."""
from . import _C
from ._missing import missing

LinAlgError = _C._LinAlgError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._linalg, "linalg_" + name, None)
    if function is None:
        missing("torch.linalg." + name)
    return function
