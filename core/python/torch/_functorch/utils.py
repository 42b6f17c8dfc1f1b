"""What the transforms share."""
from .._missing import attribute


def exposed_in(module):
    """Says that a function comes from there."""
    def named(function):
        function.__module__ = module
        return function
    return named


__getattr__ = attribute("torch._functorch.utils")
