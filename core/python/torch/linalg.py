"""torch.linalg, as far as the operators reach."""
from . import _C
from ._missing import missing


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_C._linalg, "linalg_" + name, None)
    if function is None:
        missing("torch.linalg." + name)
    return function
