"""Computing again instead of keeping: the variant that runs backward inside of backward, and the one that packs what nodes keep."""
import contextlib
import warnings
import weakref

from .. import _C
from .._missing import attribute
from ..autograd import backward as run_backward
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
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


class CheckpointError(RuntimeError):
    """What was computed again isn't what was computed first."""


class _Stop(Exception):
    """All that is needed is there."""


class _Place:
    """Stands in a node for a tensor that was not kept. By the number of a backward: the tensor, once it is computed again, until it is taken."""

    def __init__(self):
        self.tensors = {}


def _facts(t):
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


_CHECKS = {"default": _facts, "none": lambda t: None}
_early_stop = [None]


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    before = _early_stop[0]
    _early_stop[0] = enable
    try:
        yield
    finally:
        _early_stop[0] = before


class _Frame:
    """One checkpoint: what it kept of its inputs, and the places of what it did not keep."""

    def __init__(self, run_again, early_stop, facts_of):
        self.run_again, self.early_stop, self.facts_of = run_again, early_stop, facts_of
        self.places, self.facts, self.inputs, self.counts = [], [], [], {}
        self.complete, self.unsure = False, False

    def keep(self, args):
        self.inputs = [_C._make_saved_tensor(a) if isinstance(a, _C.TensorBase) else a for a in args]

    def forward_hooks(self):
        def pack(t):
            place = _Place()
            self.places.append(weakref.ref(place))
            with no_grad():
                self.facts.append(self.facts_of(t))
            return place
        return saved_tensors_hooks(pack, self._unpack)

    def _again_hooks(self, backward):
        def pack(t):
            if t.requires_grad:
                t = t.detach()
            number = self.counts[backward]
            self.counts[backward] += 1
            if number >= len(self.places):
                if not self.complete:
                    self.unsure = True
                    return t
                raise CheckpointError("torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n")
            place = self.places[number]()
            if place is not None:
                place.tensors[backward] = t
            if self.early_stop and self.counts[backward] == len(self.places):
                raise _Stop
            return t
        return saved_tensors_hooks(pack, lambda t: t)

    def _unpack(self, place):
        backward = _C._current_graph_task_id()
        if backward not in self.counts:
            self.counts[backward] = 0
            args = [a.unpack() if isinstance(a, _C.SavedTensor) else a for a in self.inputs]
            try:
                with self._again_hooks(backward), enable_grad():
                    self.run_again(*args)
            except _Stop:
                pass
            self._check(backward)
        if place.tensors.get(backward) is None:
            raise CheckpointError("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling ctx.saved_tensors in backward, "
                                  "make sure to do so only once. Otherwise please open an issue with details on your use case.")
        tensor, place.tensors[backward] = place.tensors[backward], None
        return tensor

    def _check(self, backward):
        if self.unsure:
            return
        if self.counts[backward] != len(self.places):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                                  "Number of tensors saved during forward: %d\nNumber of tensors saved during recomputation: %d.\n" % (len(self.places), self.counts[backward]))
        differing = ""
        for i, (ref, facts) in enumerate(zip(self.places, self.facts)):
            place = ref()
            again = facts if place is None else self.facts_of(place.tensors[backward])
            if again != facts:
                differing += "tensor at position %d:\nsaved metadata: %s\nrecomputed metadata: %s\n" % (i, facts, again)
        if differing:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n%s.\n" % differing)


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


def _keep_nothing(function, args, kwargs, preserve, context_fn, determinism_check, early_stop):
    from ..amp import autocast
    if determinism_check not in _CHECKS:
        raise ValueError("determinism_check should be one of %s, but got %s" % (list(_CHECKS), determinism_check))
    first_context, again_context = context_fn()
    cast = {"enabled": _C._is_autocast_cpu(), "dtype": _C._autocast_dtype()}
    state = get_rng_state() if preserve else None

    def run_again(*args):
        with fork_rng(enabled=preserve):
            if preserve:
                set_rng_state(state)
            with autocast("cpu", **cast), autocast("cpu", **cast), again_context:
                function(*args, **kwargs)
    frame = _Frame(run_again, early_stop if _early_stop[0] is None else _early_stop[0], _CHECKS[determinism_check])
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    frame.keep(args)
    with frame.forward_hooks(), first_context:
        result = function(*args, **kwargs)
    frame.complete = True
    return result


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True, **kwargs):
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise "
                      "an exception. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
                      "more details on the differences between the two variants.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _keep_nothing(function, args, kwargs, preserve, context_fn, determinism_check, early_stop)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    from ..nn import Sequential
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.9 we will raise an exception if "
                      "use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. "
                      "Refer to docs for more details on the differences between the two variants.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if isinstance(functions, Sequential) else functions)

    def run(part):
        def forward(input):
            for function in part:
                input = function(input)
            return input
        return forward
    size, end = len(functions) // segments, 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(functions[start:end]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(functions[end:])(input)


__getattr__ = attribute("torch.utils.checkpoint")
