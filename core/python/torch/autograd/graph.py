"""The graph's nodes, and what a program does with the tensors that they keep."""
import contextlib
from collections import namedtuple

from .. import _C
from .._missing import attribute

Node = _C.Node
GradientEdge = namedtuple("GradientEdge", ["node", "output_nr", "ownership_token"], defaults=[None])
_refused = [None]  # why hooks may not be set


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is None:
        view = tensor.view_as(tensor)  # noqa: F841
    return GradientEdge(*_C._gradient_edge(tensor))


def increment_version(tensor):
    for t in [tensor] if isinstance(tensor, _C.TensorBase) else tensor:
        _C._bump_version(t)


class _MultiHandle:
    """Takes a hook off all its tensors."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Of several tensors: called once a backward, when the gradients of all that it computes are there, or the first one."""
    if mode not in ("all", "any"):
        raise ValueError("Expects mode to be one of ('all', 'any') but got %s" % mode)
    if mode == "any" and not all(t.requires_grad for t in tensors):
        raise RuntimeError("Some of the Tensors do not require grad")
    ran, gradients = set(), {}

    def first(grad):
        run = _C._current_graph_task_id()
        if run not in ran:
            ran.add(run)
            fn(grad)

    nodes = [get_gradient_edge(t).node if t.requires_grad else None for t in tensors] if mode == "all" else []

    def each(index):
        def hook(grad):
            run = _C._current_graph_task_id()
            if run not in gradients:
                gradients[run] = [None] * len(tensors), sum(_C._will_engine_execute_node(n) for n in nodes if n is not None), []
            held, awaited, come = gradients[run]
            held[index] = grad
            come.append(index)
            if len(come) == awaited:
                del gradients[run]
                fn(held)
        return hook

    return _MultiHandle([t.register_hook(first if mode == "any" else each(i)) for i, t in enumerate(tensors) if t.requires_grad])


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _refused[0] is not None:
            raise RuntimeError(_refused[0])
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = _C._VariableFunctions.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout)
            packed.copy_(tensor)
            return tensor.device, packed

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)
        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    before = _refused[0]
    if _C._count_saved_tensors_hooks():
        raise RuntimeError(error_message)
    _refused[0] = error_message
    try:
        yield
    finally:
        _refused[0] = before


__getattr__ = attribute("torch.autograd.graph")
