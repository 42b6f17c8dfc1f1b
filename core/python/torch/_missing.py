"""What PyTorch has and the embedded engine has not: one sentence that names it and the way out."""
import importlib.abc
import sys


class Missing(NotImplementedError, AttributeError):
    """An AttributeError too, so that hasattr() and getattr() with a default work."""


def sentence(what):
    return "The embedded engine has no %s yet; the program can be run on stock PyTorch (--engine pytorch)." % what


def missing(what):
    raise Missing(sentence(what))


def attribute(prefix):
    """A module's `__getattr__`."""
    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        missing(prefix + "." + name)
    return __getattr__


class _Modules(importlib.abc.MetaPathFinder):
    """Asked last: nobody else has found the module."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("torch."):
            raise ModuleNotFoundError(sentence("module " + name), name=name)
        return None


sys.meta_path.append(_Modules())
