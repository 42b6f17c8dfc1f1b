"""vmap: one call for a whole batch. The function gets tensors that each stand for every sample, at a level of their own."""
import contextlib
import functools
import itertools

from .. import _C
from .._missing import attribute
from ..autograd import graph
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten

_levels = _C._functorch


def is_tensor(x):
    return isinstance(x, _C.TensorBase)


def doesnt_support_saved_tensors_hooks(f):
    @functools.wraps(f)
    def without_hooks(*args, **kwargs):
        with graph.disable_saved_tensors_hooks("torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."):
            return f(*args, **kwargs)
    return without_hooks


def get_name(func):
    if hasattr(func, "__name__"):
        return func.__name__
    if isinstance(func, functools.partial):
        return "functools.partial(%s, ...)" % get_name(func.func)
    return repr(func)


def check_randomness_arg(randomness):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError("Only allowed values for randomness are 'error', 'different', or 'same'. Got %s" % randomness)


def check_out_dims(out_dims, func):
    def check(x):
        if not isinstance(x, int) and x is not None:
            raise ValueError("vmap(%s, ..., out_dims=%s): `out_dims` must be an int, None or a python collection of ints representing where in the outputs the vmapped "
                             "dimension should appear." % (get_name(func), out_dims))
    if not isinstance(out_dims, int):
        tree_map(check, out_dims)


def batch_size_of(in_dims, args):
    sizes = [arg.size(dim) for dim, arg in zip(in_dims, args) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes %s for the mapped dimension" % sizes)
    return sizes[0]


def process_inputs(in_dims, args, func):
    """(batch size, dimension of each leaf, leaves, how the arguments are made of them)"""
    where = "vmap(%s, in_dims=%s, ...)(<inputs>): " % (get_name(func), in_dims)
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(where + "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: %s." % type(in_dims))
    if not args:
        raise ValueError("vmap(%s)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. "
                         "The latter is unsupported." % get_name(func))
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(where + "in_dims is not compatible with the structure of `inputs`. in_dims has structure %s but inputs has structure %s."
                         % (tree_flatten(in_dims)[1], spec))
    for i, (arg, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(where + "Got in_dim=%s for an input but in_dim must be either an integer dimension or None." % (dim,))
        if not is_tensor(arg):
            raise ValueError(where + "Got in_dim=%s for an input but the input is of type %s. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
                             % (dim, type(arg)))
        if not -arg.dim() <= dim < arg.dim():
            raise ValueError(where + "Got in_dim=%d for some input, but that input is a Tensor of dimensionality %d so expected in_dim to satisfy -%d <= in_dim < %d."
                             % (dim, arg.dim(), arg.dim(), arg.dim()))
        dims[i] = dim % arg.dim()
    return batch_size_of(dims, leaves), dims, leaves, spec


def _without_batch(name, value, level, batch_size, out_dim):
    if out_dim is None:
        if is_tensor(value) and _levels.is_batchedtensor(value):
            raise ValueError("vmap(%s, ...): `%s` can not return a BatchedTensor when out_dim is None" % (name, name))
        return value
    if not is_tensor(value):
        raise ValueError("vmap(%s, ...): `%s` must only return Tensors, got type %s. Did you mean to set out_dims= to None for output?" % (name, name, type(value)))
    return _levels._remove_batch_dim(value, level, batch_size, out_dim)


def _unwrapped(outputs, out_dims, level, batch_size, func):
    leaves, spec = tree_flatten(outputs)
    if not is_tensor(outputs):
        dims = _broadcast_to_and_flatten(out_dims, spec)
    elif isinstance(out_dims, tuple):
        dims = list(out_dims) if len(out_dims) == 1 else None
    else:
        dims = [out_dims] if out_dims is None or isinstance(out_dims, int) else None
    if dims is None:
        raise ValueError("vmap(%s, ..., out_dims=%s)(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure %s but outputs has "
                         "structure %s." % (get_name(func), out_dims, tree_flatten(out_dims)[1], spec))
    name = get_name(func)
    return tree_unflatten([_without_batch(name, v, level, batch_size, d) for v, d in zip(leaves, dims)], spec)


@contextlib.contextmanager
def vmap_increment_nesting(batch_size, randomness):
    level = _levels._vmap_increment_nesting(batch_size, randomness)
    try:
        yield level
    finally:
        _levels._vmap_decrement_nesting()


def wrap_leaves(dims, leaves, level, spec):
    return tree_unflatten([v if d is None else _levels._add_batch_dim(v, d, level) for d, v in zip(dims, leaves)], spec)


def flat_vmap(func, batch_size, in_dims, leaves, spec, out_dims, randomness, **kwargs):
    with vmap_increment_nesting(batch_size, randomness) as level:
        outputs = func(*wrap_leaves(in_dims, leaves, level, spec), **kwargs)
        return _unwrapped(outputs, out_dims, level, batch_size, func)


def get_chunk_sizes(total, size):
    return [size] * (total // size) + ([total % size] if total % size else [])


def chunks_of(leaves, in_dims, batch_size, chunk_size):
    ends = tuple(itertools.accumulate(get_chunk_sizes(batch_size, chunk_size)))
    return zip(*[[v] * len(ends) if d is None else v.tensor_split(ends, dim=d) for v, d in zip(leaves, in_dims)])


def chunked_vmap(func, in_dims, chunks, spec, out_dims, randomness, **kwargs):
    from .. import _C, random
    state = random.get_rng_state() if randomness == "same" else None
    outputs = []
    for leaves in chunks:
        batch_size = batch_size_of(in_dims, leaves)
        if batch_size == 0:
            continue
        if state is not None:
            random.set_rng_state(state)
        outputs.append(flat_vmap(func, batch_size, in_dims, list(leaves), spec, out_dims, randomness, **kwargs))
    flat = [tree_flatten(out) for out in outputs]
    spec = flat[0][1]
    dims = _broadcast_to_and_flatten(out_dims, spec)
    return tree_unflatten([_C._VariableFunctions.cat(parts, dim=d) for parts, d in zip(zip(*[leaves for leaves, _ in flat]), dims)], spec)


def vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs):
    check_out_dims(out_dims, func)
    batch_size, dims, leaves, spec = process_inputs(in_dims, args, func)
    if chunk_size is None:
        return flat_vmap(func, batch_size, dims, leaves, spec, out_dims, randomness, **kwargs)
    return chunked_vmap(func, dims, chunks_of(leaves, dims, batch_size, chunk_size), spec, out_dims, randomness, **kwargs)


def restore_vmap(func, in_dims, batch_size, randomness):
    """vmap that gives what it has, and in which dimension the batch is."""
    def inner(*args, **kwargs):
        with vmap_increment_nesting(batch_size, randomness) as level:
            leaves, spec = tree_flatten(args)
            outputs = func(*wrap_leaves(_broadcast_to_and_flatten(in_dims, spec), leaves, level, spec), **kwargs)
            leaves, spec = tree_flatten(outputs)
            pairs = [_levels._unwrap_batched(v, level) if is_tensor(v) else (v, None) for v in leaves]
            return tree_unflatten([v for v, _ in pairs], spec), tree_unflatten([d for _, d in pairs], spec)
    return inner


__getattr__ = attribute("torch._functorch.vmap")
