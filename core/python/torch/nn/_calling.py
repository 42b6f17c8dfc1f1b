"""How a module is called, with the hooks of it and those of all modules."""
import warnings
import weakref
from collections import OrderedDict

from .. import _C
from .._missing import missing
from ..utils.hooks import BackwardHook, add

# Of all modules.
forward_pre_hooks, forward_hooks, forward_hooks_with_kwargs, forward_hooks_always_called = OrderedDict(), OrderedDict(), OrderedDict(), OrderedDict()
backward_pre_hooks, backward_hooks = OrderedDict(), OrderedDict()
buffer_registration, module_registration, parameter_registration = OrderedDict(), OrderedDict(), OrderedDict()
_backward_hooks_are_full = None


def register_module_forward_pre_hook(hook):
    return add(forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    return add(forward_hooks, hook, flags=[(forward_hooks_with_kwargs, with_kwargs), (forward_hooks_always_called, always_call)])


def register_module_full_backward_pre_hook(hook):
    return add(backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    global _backward_hooks_are_full
    if _backward_hooks_are_full is False:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them.")
    _backward_hooks_are_full = True
    return add(backward_hooks, hook)


def register_module_backward_hook(hook):
    global _backward_hooks_are_full
    if _backward_hooks_are_full is True:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them.")
    _backward_hooks_are_full = False
    return add(backward_hooks, hook)


def register_module_buffer_registration_hook(hook):
    return add(buffer_registration, hook)


def register_module_module_registration_hook(hook):
    return add(module_registration, hook)


def register_module_parameter_registration_hook(hook):
    return add(parameter_registration, hook)


def registered(hooks, module, name, value):
    for hook in tuple(hooks.values()):
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


class _OfModule:
    """A hook that is given its module, which it doesn't keep alive."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        return self.hook(self.module(), *args)


def _first_tensor(result):
    while not isinstance(result, _C.TensorBase):
        result = next(v for v in result.values() if isinstance(v, _C.TensorBase)) if isinstance(result, dict) else result[0]
    return result


class Calling:
    """Of Module: calling it."""

    def _begin_hooks(self):
        own = self.__dict__
        for name in ("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
                     "_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            own.setdefault(name, OrderedDict())
        own.setdefault("_is_full_backward_hook", None)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return add(self._forward_pre_hooks, hook, prepend=prepend, flags=[(self._forward_pre_hooks_with_kwargs, with_kwargs)])

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return add(self._forward_hooks, hook, prepend=prepend, flags=[(self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)])

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return add(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        if self._is_full_backward_hook is False:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them.")
        self._is_full_backward_hook = True
        return add(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        if self._is_full_backward_hook is True:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them.")
        self._is_full_backward_hook = False
        return add(self._backward_hooks, hook)

    def _backward_hooks_now(self):
        """(those of full backward hooks, the others)"""
        full, other = [], []
        if backward_hooks:
            (full if _backward_hooks_are_full else other).extend(backward_hooks.values())
        if self._backward_hooks:
            (full if self._is_full_backward_hook else other).extend(self._backward_hooks.values())
        return full, other

    def __call__(self, *args, **kwargs):
        _C._begin_module(self)
        try:
            if not (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks or forward_hooks or forward_pre_hooks
                    or backward_hooks or backward_pre_hooks):
                return self.forward(*args, **kwargs)
            return _Call(self, args, kwargs).run()
        finally:
            _C._end_module()

    _call_impl = _wrapped_call_impl = __call__

    def compile(self, *args, **kwargs):
        missing("Module.compile")


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs, self.result = module, args, kwargs, None
        self.called = set()

    def run(self):
        try:
            return self._run()
        except Exception:
            self._call_the_rest()
            raise

    def _before(self):
        module = self.module
        for id, hook in (*forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if id in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args, self.kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got %s." % (changed,))
                    self.args, self.kwargs = changed
            else:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def _forward_hook(self, id, hook):
        module = self.module
        with_kwargs = id in module._forward_hooks_with_kwargs or id in forward_hooks_with_kwargs
        changed = hook(module, self.args, self.kwargs, self.result) if with_kwargs else hook(module, self.args, self.result)
        if changed is not None:
            self.result = changed

    def _run(self):
        module = self.module
        pre = [*backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        full, other = module._backward_hooks_now()
        self._before()
        both_ends = BackwardHook(module, full, pre) if full or pre else None
        if both_ends:
            self.args = both_ends.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for id, hook in (*forward_hooks.items(), *module._forward_hooks.items()):
            self.called.add(id)
            self._forward_hook(id, hook)
        if both_ends:
            if not isinstance(self.result, (_C.TensorBase, tuple)):
                warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received %s" % type(self.result), stacklevel=4)
            self.result = both_ends.setup_output_hook(self.result)
        if other:
            node = _first_tensor(self.result).grad_fn
            if node is not None:
                for hook in other:
                    node.register_hook(_OfModule(hook, module))
                _warn_of_partial_hook(self.args, self.result, node)
        return self.result

    def _call_the_rest(self):
        """After an error: the hooks that are called always."""
        module = self.module
        for kind, hooks, always in (("global module", forward_hooks, forward_hooks_always_called), ("module", module._forward_hooks, module._forward_hooks_always_called)):
            for id, hook in tuple(hooks.items()):
                if id not in always or id in self.called:
                    continue
                try:
                    self._forward_hook(id, hook)
                except Exception as e:
                    warnings.warn("%s forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in forward: %s" % (kind, e), stacklevel=4)


def _warn_of_partial_hook(inputs, result, node):
    """A hook that isn't full sees the gradients of one node only."""
    def warn(what, missing, advice=""):
        warnings.warn("Using %s is deprecated and will be removed in future versions. This hook will be missing some %s.%s" % (what, missing, advice), FutureWarning, stacklevel=5)
    full = " Please use register_full_backward_hook to get the documented behavior."
    results = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(r, _C.TensorBase) for r in results):
        return warn("non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors", "of the grad_output", full)
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if not all(isinstance(i, _C.TensorBase) for i in inputs):
        return warn("non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors", "of the grad_input", full)
    made_by = {r.grad_fn for r in results if r.grad_fn is not None}
    if not made_by or (len(made_by) == 1 and node not in made_by):
        return warn("a non-full backward hook when outputs are nested in python data structure", "grad_output")
    if len(made_by) > 1:
        return warn("a non-full backward hook when outputs are generated by different autograd Nodes", "grad_output", full)
    if {i.grad_fn for i in inputs if i.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return warn("a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input", full)
    return None
