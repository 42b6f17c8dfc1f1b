"""What is exchanged while a function is traced: Module's ways of being called and asked, and functions that stay calls."""
import builtins
import functools
import inspect

from .node import map_aggregate
from .proxy import Proxy

_wrapped = {}  # (a module's globals by id, a name in them): the globals


def wrap(fn_or_name):
    """Says at a module's top level of a function in it that its calls stay calls in graphs."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    asking = inspect.currentframe().f_back
    if asking.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    _wrapped[id(asking.f_globals), name] = asking.f_globals
    return fn_or_name


wrap.__module__ = "torch.fx._symbolic_trace"  # the generated code calls it there


def _first_proxy(values):
    found = []
    map_aggregate(values, lambda a: found.append(a) if isinstance(a, Proxy) else None)
    return found[0] if found else None


def _kept(function):
    """The function, whose calls with traced values are nodes."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        proxy = _first_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made
    call.__fx_already_patched = True
    return call


class Patches:
    """Undone in the end, the last one first."""

    def __init__(self):
        self._undo, self._seen = [], set()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        while self._undo:
            self._undo.pop()()

    def attribute(self, cls, name, new):
        self._undo.append(functools.partial(setattr, cls, name, getattr(cls, name)))
        setattr(cls, name, new)

    def keep(self, names, name):
        """A function in a module's names."""
        own = name in names
        function = names[name] if own or not hasattr(builtins, name) else getattr(builtins, name)
        if getattr(function, "__fx_already_patched", False):
            return
        self._undo.append(functools.partial(names.__setitem__, name, function) if own else functools.partial(names.__delitem__, name))
        names[name] = _kept(function)

    def keep_wrapped(self):
        for (_, name), names in _wrapped.copy().items():
            self.keep(names, name)

    def keep_known(self, names, functions):
        """Those of the functions, by id, that a module's names have."""
        if id(names) in self._seen:
            return
        self._seen.add(id(names))
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self.keep(names, name)
