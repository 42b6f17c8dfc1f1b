"""torch.compiler: nothing is compiled."""
from ._missing import attribute


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn=None, recursive=True, *, reason=None):
    return fn if fn is not None else lambda function: function


def allow_in_graph(fn):
    return fn


def reset():
    """Nothing to forget."""


__getattr__ = attribute("torch.compiler")
