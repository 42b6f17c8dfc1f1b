"""The graph: backward, modes."""
from .. import _C
from .._missing import attribute, missing
from . import modes as grad_mode
from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from . import forward_ad, functional, graph, profiler, profiler_util  # noqa: F401
from .function import Function  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401
from .variable import Variable  # noqa: F401


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
        inputs = [inputs] if isinstance(inputs, _C.TensorBase) else list(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)
    given = [grad_tensors] if isinstance(grad_tensors, _C.TensorBase) else list(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    grads = _gradients(tensors, given)
    for i, (t, g) in enumerate(zip(tensors, grads)):
        if g is None:
            raise RuntimeError("element %d of tensors does not require grad and does not have a grad_fn" % i)
    _in_span(_C._run_backward, tensors, grads, create_graph if retain_graph is None else retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    outputs = [outputs] if isinstance(outputs, _C.TensorBase) else list(outputs)
    inputs = [inputs] if isinstance(inputs, _C.TensorBase) else list(inputs)
    if not all(isinstance(t, _C.TensorBase) for t in outputs + inputs):
        missing("autograd.grad(GradientEdge)")
    given = [grad_outputs] if isinstance(grad_outputs, _C.TensorBase) else list(grad_outputs) if grad_outputs is not None else [None] * len(outputs)
    run = _batched if is_grads_batched else _C._gradients
    grads = given if is_grads_batched else _gradients(outputs, given)
    for i, g in enumerate(grads):
        if g is None:
            raise RuntimeError("element %d of tensors does not require grad and does not have a grad_fn" % i)
    result = _in_span(run, outputs, grads, inputs, create_graph if retain_graph is None else retain_graph, create_graph,
                      materialize_grads if allow_unused is None else allow_unused)
    if materialize_grads:
        from .. import zeros_like
        result = [zeros_like(i, requires_grad=create_graph) if r is None else r for i, r in zip(inputs, result)]
    return tuple(result)


def _batched(outputs, grads, inputs, *options):
    """One run of backward for a batch of gradients, which their first dimension is."""
    from .._functorch.vmap import vmap_increment_nesting
    levels, size = _C._functorch, grads[0].size(0)
    with vmap_increment_nesting(size, "error") as level:
        found = _C._gradients(outputs, [levels._add_batch_dim(g, 0, level) for g in grads], inputs, *options)
        return [None if g is None else levels._remove_batch_dim(g, level, size, 0) for g in found]


def _in_span(run, *arguments):
    _C._begin_backward()
    try:
        return run(*arguments)
    finally:
        _C._end_backward()


class set_detect_anomaly:
    """In force from when it is made."""

    def __init__(self, mode=True, check_nan=True):
        self._before = _C.is_anomaly_enabled()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _C._set_anomaly(self._before, True)


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        import warnings
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", stacklevel=2)
        super().__init__(True, check_nan)


__getattr__ = attribute("torch.autograd")
