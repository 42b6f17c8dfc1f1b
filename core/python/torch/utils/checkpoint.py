"""Computing again instead of keeping: the variant that runs backward inside of backward."""
from .. import _C
from .._missing import missing
from ..autograd import backward as run_backward
from ..autograd.function import Function
from ..autograd.modes import enable_grad, no_grad
from ..random import fork_rng, get_rng_state, set_rng_state


class CheckpointFunction(Function):
    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        ctx.run_function, ctx.preserve = run_function, preserve_rng_state
        if preserve_rng_state:
            ctx.state = get_rng_state()
        ctx.inputs = [None if isinstance(a, _C.TensorBase) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, _C.TensorBase)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        inputs = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            inputs[i] = t
        with fork_rng(enabled=ctx.preserve):
            if ctx.preserve:
                set_rng_state(ctx.state)
            detached = []
            for t in inputs:
                if isinstance(t, _C.TensorBase):
                    wants = t.requires_grad
                    t = t.detach()
                    t.requires_grad = wants
                detached.append(t)
            with enable_grad():
                outputs = ctx.run_function(*detached)
        outputs = (outputs,) if isinstance(outputs, _C.TensorBase) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, _C.TensorBase) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None) + tuple(t.grad if isinstance(t, _C.TensorBase) else None for t in detached)


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **kwargs):
    if use_reentrant is None:
        import warnings
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly.", stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        missing("torch.utils.checkpoint.checkpoint(use_reentrant=False)")
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    return CheckpointFunction.apply(function, preserve_rng_state, *args)
