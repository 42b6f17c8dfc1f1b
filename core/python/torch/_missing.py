"""What PyTorch has and the embedded engine has not: one sentence that names it and the way out."""
import dis
import importlib.abc
import sys
import types

from ._stock_names import LACKING

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


class Missing(NotImplementedError, AttributeError):
    """An AttributeError too, so that hasattr() and getattr() with a default work."""


def sentence(what):
    return "The embedded engine has no %s yet; the program can be run on stock PyTorch (--engine pytorch)." % what


def missing(what):
    raise Missing(sentence(what))


_names = {module: frozenset(text.split()) for module, text in LACKING.items()}


def in_stock(module, name):
    """Whether PyTorch has there what is missing here; of modules that are not listed it is taken to."""
    return module not in _names or name in _names[module]


def attribute(prefix, place=None):
    """A module's `__getattr__`. `place`: where PyTorch has the names, if that is not what it is called by."""
    place = place or prefix

    def __getattr__(name):
        if name.startswith("__") or not in_stock(place, name):
            raise AttributeError("module '%s' has no attribute '%s'" % (place, name))
        asking = sys._getframe(1)
        if asking.f_lasti >= 0 and asking.f_code.co_code[asking.f_lasti] == _IMPORT_FROM:  # Python makes of an AttributeError there an error of its own
            raise NotImplementedError(sentence(prefix + "." + name))
        missing(prefix + "." + name)
    return __getattr__


def homes(package, table):
    """Modules that PyTorch has where this package has its things elsewhere: {module: what it holds}. Classes and functions are said to come from there."""
    for name, held in table.items():
        full = package + "." + name
        module = types.ModuleType(full)
        for one in held:
            if isinstance(one, (type, types.FunctionType)):
                one.__module__ = full
            setattr(module, one.__name__, one)
        module.__getattr__ = attribute(full)
        sys.modules[full] = module
        setattr(sys.modules[package], name, module)


class _Modules(importlib.abc.MetaPathFinder):
    """Asked last: nobody else has found the module."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("torch."):
            known = in_stock("torch", name.split(".")[1]) or name.count(".") > 1
            raise ModuleNotFoundError(sentence("module " + name) if known else "No module named '%s'" % name, name=name)
        return None


sys.meta_path.append(_Modules())
