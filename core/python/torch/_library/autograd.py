"""The kernel at Autograd of an operator whose gradient is written in Python: an autograd.Function round the layers below."""
from types import SimpleNamespace

from .. import _C
from .._missing import attribute
from ..autograd.function import Function
from ..utils import _pytree


def _requires_grad(values):
    return any(isinstance(v, _C.TensorBase) and v.requires_grad for v in _pytree.tree_leaves(list(values)))


def with_defaults(schema, args, kwargs):
    """What a call leaves out stands there again: kernels get no argument that equals its default."""
    plain = [a for a in schema.arguments if not a.kwarg_only]
    args = tuple(args) + tuple(a.default_value for a in plain[len(args):])
    return args, {a.name: kwargs.get(a.name, a.default_value) for a in schema.arguments if a.kwarg_only}


def make_autograd_impl(op, info):
    """`info` has `_backward_fn` and `_setup_context_fn`, each of which may be None and may come later."""
    named = any(a.kwarg_only for a in op._schema.arguments)
    lists = any("List[" in a.type and "Tensor" in a.type for a in op._schema.arguments + op._schema.returns)

    def below(keys, args, kwargs):
        with _C._AutoDispatchBelowAutograd():
            return op.redispatch(keys & _C._after_autograd_keyset, *args, **kwargs)

    def forward(ctx, *flat):
        call = flat[-1]
        args = _pytree.tree_unflatten(flat[:-1], call.spec) if lists else flat[:-1]
        with _C._AutoDispatchBelowAutograd():
            result = op.redispatch(call.keys & _C._after_autograd_keyset, *args, **call.kwargs)
            if info._setup_context_fn:
                inputs, keywords = with_defaults(op._schema, args, call.kwargs)
                more = {"keyword_only_inputs": keywords} if named else {}
                info._setup_context_fn(ctx=ctx, inputs=inputs, **more, output=result)
        if not lists:
            return result
        whole = result if isinstance(result, tuple) else (result,)
        call.single = not isinstance(result, tuple)
        flat, call.returned = _pytree.tree_flatten(whole)
        ctx._call = call
        return tuple(flat)

    def backward(ctx, *grads):
        if not info._backward_fn:
            raise RuntimeError("Trying to backward through %s but no autograd formula was registered. Please use register_autograd to add one." % op)
        needed = ctx.needs_input_grad
        ctx.needs_input_grad = needed[:-1]
        try:
            if not lists:
                found = info._backward_fn(ctx, *grads)
                return (*found, None) if isinstance(found, tuple) else (found, None)
            call = ctx._call
            ctx.needs_input_grad = tuple(_pytree.tree_unflatten(needed[:-1], call.spec))
            found = info._backward_fn(ctx, *_pytree.tree_unflatten(grads, call.returned))
            found = found if isinstance(found, tuple) else (found,)
            return (*_leaves_beside(found, call.args), None)
        finally:
            ctx.needs_input_grad = needed

    generated = type("GeneratedBackwardFor_%s_%s_%s" % (op._namespace, op._opname, op._overloadname), (Function,),
                     {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def kernel(keys, *args, **kwargs):
        if not (_C.is_grad_enabled() and _requires_grad(args)):
            return below(keys, args, kwargs)
        call = SimpleNamespace(keys=keys, kwargs=kwargs)
        if not lists:
            return generated.apply(*args, call)
        call.args = args
        flat, call.spec = _pytree.tree_flatten(args)
        flat = generated.apply(*flat, call)
        result = _pytree.tree_unflatten(flat, call.returned)
        return result[0] if call.single else result

    return kernel


def _leaves_beside(found, args):
    """The leaves of gradients, one for each leaf of the arguments; None for a list stands for all of its own."""
    if len(found) != len(args):
        raise RuntimeError("Expected the return from backward to be of the same structure as the inputs. Got: %d values (return from backward), %d (inputs)" % (len(found), len(args)))
    leaves = []
    for gradient, argument in zip(found, args):
        count = len(_pytree.tree_leaves(argument))
        own = [None] * count if gradient is None else _pytree.tree_leaves(gradient)
        if len(own) != count:
            raise RuntimeError("Expected the return from backward to be of the same structure as the inputs. Got: %d gradients for a list of %d" % (len(own), count))
        leaves += own
    return leaves


__getattr__ = attribute("torch._library.autograd")
