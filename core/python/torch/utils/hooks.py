"""Hooks' handles, and the hooks of a module that run when gradients pass its inputs and outputs."""
import warnings
import weakref

from .. import _C
from .._missing import attribute


class RemovableHandle:
    """Takes a hook out of its dictionary again, and what belongs to it out of others."""
    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)

    def remove(self):
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def add(hooks, hook, *, prepend=False, flags=()):
    """`flags`: dictionaries of hooks that are called in another way, with whether this one is."""
    handle = RemovableHandle(hooks, extra_dict=[d for d, _ in flags])
    hooks[handle.id] = hook
    for d, wanted in flags:
        if wanted:
            d[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class NodeHandle:
    """Takes a hook off a node of the graph."""

    def __init__(self, node, id):
        self._node, self.id = node, id

    def remove(self):
        self._node._take_away(self.id)

    __enter__ = RemovableHandle.__enter__
    __exit__ = RemovableHandle.__exit__


_C.Node.register_hook = lambda node, fn: NodeHandle(node, node._on_outputs(fn))
_C.Node.register_prehook = lambda node, fn: NodeHandle(node, node._on_inputs(fn))


class BackwardHook:
    """Puts a node in front of a module's inputs and one behind its outputs; the hooks run when gradients have passed both."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = self.inputs = self.outputs = None  # places of the tensors, of those that are seen
        self.input_count = self.output_count = -1

    def _through_node(self, values):
        """(the values with their tensors replaced, the places of those, the node), where some tensor needs a gradient."""
        from ..nn._functions import BackwardHookFunction
        places = [i for i, v in enumerate(values) if isinstance(v, _C.TensorBase)]
        if not (any(values[i].requires_grad for i in places) and _C.is_grad_enabled()):
            return values, None, None
        tensors = BackwardHookFunction.apply(*(values[i] for i in places))
        node = next(t.grad_fn for t in tensors if t.grad_fn is not None and t.grad_fn.name() == "BackwardHookFunctionBackward")
        changed = list(values)
        for i, t in zip(places, tensors):
            changed[i] = t
        return (tuple(changed) if type(values) is tuple else type(values)(*changed)), places, node

    @staticmethod
    def _spread(places, values, count):
        out = [None] * count
        for i, v in zip(places, values):
            out[i] = v
        return tuple(out)

    def setup_input_hook(self, args):
        result, self.inputs, node = self._through_node(args)
        self.input_count = len(args)
        if node is not None:
            node.register_hook(self._inputs_known)
        return result

    def setup_output_hook(self, output):
        several = isinstance(output, tuple)
        outputs = output if several else (output,)
        result, self.outputs, node = self._through_node(outputs)
        self.output_count = len(outputs)
        if node is not None:
            node.register_hook(self._outputs_known)
        return result if several else result[0]

    def _inputs_known(self, grads, _):
        if self.grad_outputs is None:
            return None  # a gradient that came another way than through the module's outputs
        result = self._spread(self.inputs, grads, self.input_count)
        for hook in self.hooks:
            out = hook(self.module, result, self.grad_outputs)
            if out is None:
                continue
            if len(out) != len(result):
                raise RuntimeError("Backward hook returned an invalid number of grad_input, got %d, but expected %d" % (len(out), len(result)))
            result = out
        self.grad_outputs = None
        return tuple(result[i] for i in self.inputs)

    def _outputs_known(self, _, grads):
        self.grad_outputs = self._spread(self.outputs, grads, self.output_count)
        for hook in self.pre_hooks or ():
            out = hook(self.module, self.grad_outputs)
            if out is None:
                continue
            if len(out) != len(self.grad_outputs):
                raise RuntimeError("Backward pre hook returned an invalid number of grad_output, got %d, but expected %d" % (len(out), len(self.grad_outputs)))
            self.grad_outputs = out
        given = self.grad_outputs
        if self.inputs is None:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients. See "
                          "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.", stacklevel=5)
            for hook in self.hooks:
                out = hook(self.module, (None,) * self.input_count, self.grad_outputs)
                if out is not None and not (isinstance(out, tuple) and all(o is None for o in out)):
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all gradients.")
            self.grad_outputs = None
        return None if given is None else tuple(given[i] for i in self.outputs)


__getattr__ = attribute("torch.utils.hooks")
