"""jvp and what is made of it: dual tensors at a level of their own."""
import contextlib
import functools

from .. import _C
from ..autograd import forward_ad
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from .eager_transforms import basis_in_chunks, check_tensors, error_if_complex, jacrev, slice_argnums, split_aux, unwrap_all, wrap_all
from .utils import exposed_in
from .vmap import is_tensor

_levels = _C._functorch
_NAME = "jvp(f, primals, tangents)"
_nesting = [0]


@contextlib.contextmanager
def jvp_increment_nesting():
    level = _levels._jvp_increment_nesting()
    _nesting[0] += 1
    try:
        yield level
    finally:
        _levels._jvp_decrement_nesting()
        _nesting[0] -= 1


def _check_list(tensors, name):
    if not tensors:
        raise RuntimeError("%s: Expected %s to contain at least one Tensor." % (_NAME, name))
    for t in tensors:
        if not is_tensor(t):
            raise RuntimeError("%s: Expected %s to only contain Tensors, got %s" % (_NAME, name, type(t)))


def _unpacked(dual, strict):
    if not is_tensor(dual):
        raise RuntimeError("%s: expected f(*args) to return only tensors, got unsupported type %s" % (_NAME, type(dual)))
    primal, tangent = forward_ad.unpack_dual(dual)
    if tangent is None:
        if strict:
            raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.")
        tangent = _C._VariableFunctions.zeros_like(primal)
    return primal, tangent


@exposed_in("torch.func")
def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    return jvp_with_argnums(func, primals, tangents, None, strict=strict, has_aux=has_aux)


def _replaced(args, new, argnums):
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    by_number = dict(zip((n % len(args) for n in numbers), new))
    return tuple(by_number.get(i, arg) for i, arg in enumerate(args))


def jvp_with_argnums(func, primals, tangents, argnums, *, strict=False, has_aux=False):
    """jvp with respect to some of the arguments, as jacfwd wants it."""
    if not isinstance(primals, tuple):
        raise RuntimeError("%s: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)." % _NAME)
    flat_primals, primals_spec = tree_flatten(primals if argnums is None else slice_argnums(primals, argnums))
    flat_tangents, tangents_spec = tree_flatten(tangents)
    if primals_spec != tangents_spec:
        raise RuntimeError("%s: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
                           "Got primals with structure %s and tangents with structure %s" % (_NAME, primals_spec, tangents_spec))
    _check_list(flat_primals, "primals")
    _check_list(flat_tangents, "tangents")
    with jvp_increment_nesting() as level, forward_ad._set_fwd_grad_enabled(True):
        with forward_ad.dual_level() if _nesting[0] == 1 else contextlib.nullcontext():
            duals = tree_unflatten([forward_ad.make_dual(p, t) for p, t in zip(flat_primals, flat_tangents)], primals_spec)
            if argnums is not None:
                duals = _replaced(wrap_all(primals, level), duals, argnums)
            out, aux = func(*duals), None
            if has_aux:
                out, aux = split_aux(out, _NAME)
                aux = unwrap_all(aux, level)
            flat_out, spec = tree_flatten(out)
            check_tensors(flat_out, _NAME)
            pairs = [_unpacked(dual, strict) for dual in flat_out]
            outputs, moved = (tree_unflatten([unwrap_all(t, level) for t in all], spec) for all in zip(*pairs))
            return (outputs, moved, aux) if has_aux else (outputs, moved)


def _unflattened(t, dim, shape):
    return t.squeeze(dim) if len(shape) == 0 else t.unflatten(dim, shape)


@exposed_in("torch.func")
def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    from .apis import vmap

    @functools.wraps(func)
    def wrapper_fn(*args):
        error_if_complex("jacfwd", args, True)
        primals, primals_spec = tree_flatten(args if argnums is None else slice_argnums(args, argnums))
        numels = tuple(p.numel() for p in primals)
        basis = tree_unflatten(next(basis_in_chunks(primals, numels)), primals_spec)

        def push(basis):
            out, moved, *aux = jvp_with_argnums(func, args, basis, argnums, has_aux=has_aux)
            error_if_complex("jacfwd", out, False)
            return (moved, aux[0]) if has_aux else moved
        results, aux = vmap(push, randomness=randomness)(basis), None
        if has_aux:
            results, aux = results
            aux = tree_map(lambda value: value[0], aux)
        flat, spec = tree_flatten(results)
        by_output = []
        for all in flat:
            parts = all.movedim(0, -1).split(list(numels), dim=-1)
            by_output.append(tree_unflatten([_unflattened(part, -1, p.shape) for p, part in zip(primals, parts)], primals_spec))
        if isinstance(argnums, int):
            by_output = [of_one[0] for of_one in by_output]
        jacobian = tree_unflatten(by_output, spec)
        return (jacobian, aux) if has_aux else jacobian
    return wrapper_fn


@exposed_in("torch.func")
def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)
