"""The graph: backward, modes."""
from .. import _C
from .._missing import attribute, missing
from . import modes as grad_mode
from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from .function import Function  # noqa: F401


def _gradients(outputs, given):
    """Where none is given, ones."""
    from .. import ones_like, preserve_format
    result = []
    for out, grad in zip(outputs, given):
        if grad is not None:
            if grad.shape != out.shape:
                raise RuntimeError("Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of %s."
                                   % (given.index(grad), grad.shape, outputs.index(out), out.shape))
            result.append(grad)
        elif out.requires_grad:
            if out.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not out.dtype.is_floating_point:
                raise RuntimeError("grad can be implicitly created only for real scalar outputs but got %s" % out.dtype)
            result.append(ones_like(out, memory_format=preserve_format))
        else:
            result.append(None)
    return result


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    if inputs is not None:
        missing("backward(inputs=...)")
    tensors = [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)
    given = [grad_tensors] if isinstance(grad_tensors, _C.TensorBase) else list(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    grads = _gradients(tensors, given)
    for i, (t, g) in enumerate(zip(tensors, grads)):
        if g is None:
            raise RuntimeError("element %d of tensors does not require grad and does not have a grad_fn" % i)
    _engine_run_backward(tensors, grads, create_graph if retain_graph is None else retain_graph, create_graph)


def _engine_run_backward(tensors, grads, keep_graph, create_graph):
    _C._begin_backward()
    try:
        _C._run_backward(tensors, grads, keep_graph, create_graph)
    finally:
        _C._end_backward()


__getattr__ = attribute("torch.autograd")
