"""torch.autograd.Function inside of transforms: at each level its forward is called with what the level's tensors stand for, one level further out."""
from collections import namedtuple

from .. import _C
from .._missing import attribute, missing
from ..autograd.modes import enable_grad
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten
from .apis import vmap
from .vmap import is_tensor, restore_vmap

_levels = _C._functorch
VmapInfo = namedtuple("VmapInfo", ["batch_size", "randomness"])


def custom_function_call(cls, *operands):
    kind = _levels._innermost()
    if kind is None:
        return cls._apply_once(*operands)
    transform, level, batch_size, randomness = kind
    if transform == "vmap":
        return _of_vmap(cls, operands, level, VmapInfo(batch_size, randomness))
    if transform == "jvp":
        missing("torch.autograd.Function under torch.func.jvp")
    return _of_grad(cls, operands, level)


def _of_grad(cls, operands, level):
    def forward(ctx, *given):
        inner = tree_map(lambda x: _levels._unwrap_for_grad(x, level) if is_tensor(x) else x, given)
        with enable_grad(), _levels._Lowered():
            out = custom_function_call(cls, *inner)
        same = {id(x): g for x, g in zip(inner, given) if is_tensor(x)}
        out = tree_map(lambda x: same.get(id(x), None) if id(x) in same else _levels._wrap_for_grad(x, level) if is_tensor(x) else x, out)
        cls.setup_context(ctx, given, out)
        return out
    return cls._apply_once(*operands, _forward=forward, _name=cls.__name__ + "Generated")


def _unwrapped(tree, level):
    """What the tensors stand for, and where the batch is in each; as two trees."""
    leaves, spec = tree_flatten(tree)
    pairs = [_levels._unwrap_batched(x, level) if is_tensor(x) else (x, None) for x in leaves]
    return tree_unflatten([x for x, _ in pairs], spec), tree_unflatten([d for _, d in pairs], spec)


def _wrapped(tree, dims, level):
    leaves, spec = tree_flatten(tree)
    flat = _broadcast_to_and_flatten(dims, spec)
    return tree_unflatten([x if d is None or not is_tensor(x) else _levels._add_batch_dim(x, d, level) for x, d in zip(leaves, flat)], spec)


def _of_vmap(cls, operands, level, info):
    name = cls.__name__
    if not cls.generate_vmap_rule and "vmap" not in {k for c in cls.__mro__ if c.__module__ != _BASE for k in vars(c)}:
        raise RuntimeError("You tried to vmap over %s, but it does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True. "
                           "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html" % name)
    inner, in_dims = _unwrapped(operands, level)
    if all(d is None for d in tree_flatten(in_dims)[0]):
        with _levels._Lowered():
            return custom_function_call(cls, *operands)
    if cls.generate_vmap_rule:
        made, out_dims = _with_batches(cls, in_dims, info)
        with _levels._Lowered():
            out = custom_function_call(made, *inner)
        return _wrapped(out, out_dims(), level)
    with _levels._Lowered():
        result = cls.vmap(info, in_dims, *inner)
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output.")
    return _wrapped(result[0], result[1], level)


class _Saving:
    """ctx inside of vmap: what it saves is kept without the level."""

    def __init__(self, ctx, level):
        self.__dict__.update(_ctx=ctx, _level=level, dims=())

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)

    def save_for_backward(self, *tensors):
        values, dims = _unwrapped(tensors, self._level)
        self.__dict__["dims"] = dims
        self._ctx.save_for_backward(*values)

    def save_for_forward(self, *tensors):
        self._ctx.save_for_forward(*_unwrapped(tensors, self._level)[0])


class _Saved:
    """ctx in backward, with other saved tensors."""

    def __init__(self, ctx, tensors):
        self.__dict__.update(_ctx=ctx, saved_tensors=tensors)

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)


def _reduced(grad, dim, in_dim, size, shape):
    """The gradient of one input: summed over the batch that the input hadn't."""
    if grad is None:
        return None
    if in_dim is None:
        return grad if dim is None else grad.sum(dim)
    if dim is None:
        grad = grad.unsqueeze(in_dim)
        grad, dim = grad.expand(grad.shape[:in_dim] + (size,) + grad.shape[in_dim + 1:]), in_dim
    return vmap(lambda g, s: g.sum_to_size(s), in_dims=(dim, None), out_dims=in_dim)(grad, shape)


def _with_batches(cls, in_dims, info):
    """A Function whose inputs are whole batches."""
    from ..autograd.function import Function
    known = {}

    class Vmapped(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*operands):
            out, known["out_dims"] = restore_vmap(cls.forward, in_dims, info.batch_size, info.randomness)(*operands)
            return out

        @staticmethod
        def setup_context(ctx, inputs, outputs):
            def inner(inputs, outputs):
                saving = _Saving(ctx, _levels.maybe_current_level())
                cls.setup_context(saving, inputs, outputs)
                known["saved_dims"] = saving.dims
                known["shapes"] = [tuple(x.shape) if is_tensor(x) else None for x in inputs]
                return ()
            restore_vmap(inner, (in_dims, known["out_dims"]), info.batch_size, info.randomness)(inputs, outputs)

        @staticmethod
        def backward(ctx, *grads):
            def inner(saved, grads):
                return cls.backward(_Saved(ctx, saved), *grads)
            dims = known["out_dims"] if isinstance(known["out_dims"], tuple) else (known["out_dims"],)
            out, out_dims = restore_vmap(inner, (known["saved_dims"], dims), info.batch_size, info.randomness)(ctx.saved_tensors, grads)
            if not isinstance(out, tuple):
                out, out_dims = (out,), (out_dims,)
            return tuple(_reduced(g, d, i, info.batch_size, s) for g, d, i, s in zip(out, out_dims, in_dims, known["shapes"]))
    Vmapped.__name__ = "Vmapped" + cls.__name__
    return Vmapped, lambda: known["out_dims"]


_BASE = "torch.autograd.function"
__getattr__ = attribute("torch._functorch.autograd_function")
