"""vmap, grad and grad_and_value as programs call them."""
import functools

from .._missing import attribute
from .utils import exposed_in
from .vmap import check_out_dims, check_randomness_arg, chunked_vmap, process_inputs, vmap_impl


@exposed_in("torch.func")
def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    check_randomness_arg(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("vmap: chunk_size should be None or greater than 0. (got %s)" % chunk_size)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs)
    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    check_randomness_arg(randomness)
    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)

    @functools.wraps(func)
    def wrapped_with_chunks(*args, **kwargs):
        check_out_dims(out_dims, func)
        _, dims, leaves, spec = process_inputs(in_dims, args, func)
        parts = zip(*[[v] * chunks if d is None else v.chunk(chunks, dim=d) for v, d in zip(leaves, dims)])
        return chunked_vmap(func, dims, parts, spec, out_dims, randomness, **kwargs)
    return wrapped_with_chunks


@exposed_in("torch.func")
def grad(func, argnums=0, has_aux=False):
    from .eager_transforms import grad_impl

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return grad_impl(func, argnums, has_aux, args, kwargs)
    return wrapper


@exposed_in("torch.func")
def grad_and_value(func, argnums=0, has_aux=False):
    from .eager_transforms import grad_and_value_impl

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return grad_and_value_impl(func, argnums, has_aux, args, kwargs)
    return wrapper


__getattr__ = attribute("torch._functorch.apis")
