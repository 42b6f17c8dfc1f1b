"""Which modules run, forward or backward, by their names."""
import weakref

from .. import _C
from .._missing import attribute
from ..autograd.graph import register_multi_grad_hook
from ..nn._calling import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves


class ModuleTracker:
    """`parents`: the names of the modules that run, always with "Global"."""

    def __init__(self):
        self.parents = {"Global"}
        self._names, self._seen, self._handles, self._hooks = weakref.WeakKeyDictionary(), weakref.WeakSet(), [], []
        self._called_back = False

    @property
    def is_bw(self):
        return _C._current_graph_task_id() != -1

    def _name(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            for child, inner in module.named_children():
                self._names[inner] = name + "." + child
                self._name(inner)
            self._seen.add(module)
        return name

    def _at_the_end_of_backward(self):
        if self._called_back:
            return

        def ended():
            self.parents = {"Global"}
            self._called_back = False
        _C._queue_callback(ended)
        self._called_back = True

    def _when_gradients_come(self, values, what):
        tensors = [t for t in tree_leaves(values) if isinstance(t, _C.TensorBase) and t.requires_grad]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, what))

    def _entered(self, module, args):
        name = self._name(module)
        self.parents.add(name)
        self._when_gradients_come(args, lambda grads: self.parents.discard(name))

    def _left(self, module, args, output):
        name = self._name(module)
        self.parents.discard(name)

        def entered_backward(grads):
            self._at_the_end_of_backward()
            self.parents.add(name)
        self._when_gradients_come(output, entered_backward)

    def __enter__(self):
        self._handles = [register_module_forward_pre_hook(self._entered), register_module_forward_hook(self._left)]
        return self

    def __exit__(self, *error):
        for handle in self._handles + self._hooks:
            handle.remove()
        self._hooks.clear()


__getattr__ = attribute("torch.utils.module_tracker")
