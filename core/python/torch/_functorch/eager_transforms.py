"""grad, vjp and what is made of them. At a level of its own, the inputs stand for themselves and require grad; backward runs over what the function did with them."""
import contextlib
import functools

from .. import _C
from .._missing import attribute, missing
from ..autograd import grad as autograd_grad
from ..autograd.modes import enable_grad
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_, tree_unflatten, treespec_pprint
from .utils import exposed_in
from .vmap import doesnt_support_saved_tensors_hooks, get_chunk_sizes, is_tensor

_levels = _C._functorch


@contextlib.contextmanager
def enable_inplace_requires_grad(enabled):
    before = _levels.get_inplace_requires_grad_allowed()
    _levels.set_inplace_requires_grad_allowed(enabled)
    try:
        yield
    finally:
        _levels.set_inplace_requires_grad_allowed(before)


@contextlib.contextmanager
def grad_increment_nesting():
    level = _levels._grad_increment_nesting()
    try:
        yield level
    finally:
        _levels._grad_decrement_nesting()


def wrap_all(tree, level):
    return tree_map(lambda x: _levels._wrap_for_grad(x, level) if is_tensor(x) else x, tree)


def create_differentiable(tree):
    def one(x):
        if not is_tensor(x):
            raise ValueError("Thing passed to transform API must be Tensor, got %s" % type(x))
        with enable_inplace_requires_grad(True):
            return x.requires_grad_()
    return tree_map(one, tree)


def unwrap_all(tree, level):
    def one(x):
        if is_tensor(x):
            return _levels._unwrap_for_grad(x, level)
        if isinstance(x, tuple):
            return tree_map(one, tuple(x))
        raise RuntimeError("Expected tensors, got unsupported type %s" % type(x))
    return tree_map(one, tree)


def _zeros_like(t):
    return _C._VariableFunctions.zeros_like(t)


def gradients(outputs, inputs, grad_outputs=None, retain_graph=False, create_graph=True):
    """As autograd.grad; zeros for inputs that the outputs don't depend on."""
    given = [None] * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [(out, g) for out, g in zip(outputs, given) if out.requires_grad]
    if not pairs:
        return tuple(_zeros_like(x) for x in inputs)
    grads = autograd_grad(tuple(out for out, _ in pairs), inputs, None if grad_outputs is None else tuple(g for _, g in pairs),
                          retain_graph=retain_graph, create_graph=create_graph, allow_unused=True)
    return tuple(_zeros_like(x) if g is None else g for g, x in zip(grads, inputs))


def slice_argnums(args, argnums, as_tuple=True):
    def wrapped(n):
        if not isinstance(n, int):
            raise RuntimeError("argnum must be int, got: %s" % type(n))
        if not -len(args) <= n < len(args):
            raise RuntimeError("Got argnum=%d, but only %d positional inputs" % (n, len(args)))
        return n % len(args)
    if isinstance(argnums, int):
        one = args[wrapped(argnums)]
        return (one,) if as_tuple else one
    if not isinstance(argnums, tuple):
        raise RuntimeError("argnums must be int or Tuple[int, ...], got: %s" % type(argnums))
    numbers = tuple(wrapped(n) for n in argnums)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    if len(set(numbers)) != len(numbers):
        raise RuntimeError("argnums elements must be unique, got %s" % (numbers,))
    return tuple(args[n] for n in numbers)


def check_tensors(output, api):
    if not output or len(output) == 1 and output[0] is None:
        raise RuntimeError("%s: Expected f to be a function that has non-empty output (got output = %s)" % (api, output))
    for o in output:
        if not is_tensor(o):
            raise RuntimeError("%s: expected f(*primals) to return only tensors, got unsupported type %s" % (api, type(o)))


def error_if_complex(name, args, is_input):
    for i, arg in enumerate(tree_leaves(args)):
        if is_tensor(arg) and arg.dtype.is_complex:
            raise RuntimeError("%s: Expected all %s to be real but received complex tensor at flattened input idx: %d" % (name, "inputs" if is_input else "outputs", i))


def split_aux(output, api):
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError("%s: output of function f should be a tuple: (output, aux) if has_aux is True" % api)
    return output


@exposed_in("torch.func")
def vjp(func, *primals, has_aux=False):
    return vjp_with_argnums(func, *primals, has_aux=has_aux)


@doesnt_support_saved_tensors_hooks
def vjp_with_argnums(func, *primals, argnums=None, has_aux=False):
    """vjp with respect to some of the arguments, as jacrev wants it."""
    with grad_increment_nesting() as level, enable_grad():
        primals = wrap_all(primals, level)
        if argnums is None:
            wanted = create_differentiable(primals)
        else:
            wanted = slice_argnums(primals, argnums, as_tuple=False)
            create_differentiable(wanted)
        out, aux = func(*primals), None
        if has_aux:
            out, aux = split_aux(out, "vjp(f, *primals)")
            aux = unwrap_all(aux, level)
        flat_out, out_spec = tree_flatten(out)
        check_tensors(flat_out, "vjp(f, *primals)")
        flat_wanted, wanted_spec = tree_flatten(wanted)
        results = unwrap_all(out, level)
        for o in flat_out:
            if not o.is_floating_point() and not o.is_complex():
                raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype %s" % o.dtype)

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        if create_graph is None:
            create_graph = _C.is_grad_enabled()
        flat, spec = tree_flatten(cotangents)
        if out_spec != spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: %s, primal output: %s"
                               % (treespec_pprint(spec), treespec_pprint(out_spec)))
        return tree_unflatten(gradients(flat_out, flat_wanted, flat, retain_graph, create_graph), wanted_spec)
    return (results, wrapper, aux) if has_aux else (results, wrapper)


@doesnt_support_saved_tensors_hooks
def grad_and_value_impl(func, argnums, has_aux, args, kwargs):
    with grad_increment_nesting() as level, enable_grad():
        args, kwargs = wrap_all(args, level), wrap_all(kwargs, level)
        wanted = slice_argnums(args, argnums, as_tuple=False)
        tree_map_(create_differentiable, wanted)
        output, aux = func(*args, **kwargs), None
        if has_aux:
            output, aux = split_aux(output, "grad_and_value(f)(*args)")
        if not is_tensor(output):
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got %s" % type(output))
        if output.dim() != 0:
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with %d dims. Maybe you wanted to use the vjp or jacrev "
                               "APIs instead?" % output.dim())
        flat, spec = tree_flatten(wanted)
        grads = unwrap_all(tree_unflatten(gradients((output,), flat), spec), level)
        output = unwrap_all(output, level)
        if has_aux:
            return grads, (output, unwrap_all(aux, level))
        return grads, output


def grad_impl(func, argnums, has_aux, args, kwargs):
    grads, value = grad_and_value_impl(func, argnums, has_aux, args, kwargs)
    return (grads, value[1]) if has_aux else grads


def basis_in_chunks(tensors, numels, chunk_size=None):
    """The unit vectors of all elements of the tensors, as many at a time as a chunk has: for each tensor its part of them."""
    total = sum(numels)
    sizes = get_chunk_sizes(total, chunk_size) if chunk_size and chunk_size < total else [total]
    step = sizes[0]
    for number, rows in enumerate(sizes):
        chunks = tuple(t.new_zeros(rows, n) for t, n in zip(tensors, numels))
        start = 0
        for chunk, n in zip(chunks, numels):
            chunk.diagonal(start + number * step).fill_(1)
            start -= n
        yield tuple(chunk.view(rows, *t.shape) for chunk, t in zip(chunks, tensors))


@exposed_in("torch.func")
def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    if _preallocate_and_copy:
        missing("torch.func.jacrev(_preallocate_and_copy=True)")
    from .apis import vmap

    @functools.wraps(func)
    def wrapper_fn(*args):
        error_if_complex("jacrev", args, True)
        output, vjp_fn, *aux = vjp_with_argnums(func, *args, argnums=argnums, has_aux=has_aux)
        outputs, output_spec = tree_flatten(output)
        error_if_complex("jacrev", outputs, False)
        numels = tuple(out.numel() for out in outputs)
        primals, primals_spec = tree_flatten(slice_argnums(args, argnums))
        rows = []
        for basis in basis_in_chunks(outputs, numels, chunk_size):
            if chunk_size == 1:  # no vmap, so that none of its limits holds
                found = vjp_fn(tree_unflatten([_C._VariableFunctions.squeeze(b, 0) for b in basis], output_spec))
                rows.append([_C._VariableFunctions.unsqueeze(r, 0) for r in tree_leaves(found)])
            else:
                rows.append(tree_leaves(vmap(vjp_fn)(tree_unflatten(basis, output_spec))))
        by_input = rows[0] if len(rows) == 1 else [_C._VariableFunctions.cat(parts, 0) for parts in zip(*rows)]
        parts = [result.split(list(numels), dim=0) for result in by_input]
        by_input = [tuple(part.view(out.shape + primal.shape) for part, out in zip(all, outputs)) for all, primal in zip(parts, primals)]
        by_output = tuple(tree_unflatten(of_one, primals_spec) for of_one in zip(*by_input))
        if isinstance(argnums, int):
            by_output = tuple(of_one[0] for of_one in by_output)
        jacobian = tree_unflatten(by_output, output_spec)
        return (jacobian, aux[0]) if has_aux else jacobian
    return wrapper_fn


@exposed_in("torch.func")
def debug_unwrap(tensor, *, recurse=True):
    if not _levels.is_functorch_wrapped_tensor(tensor):
        return tensor
    inner = _levels.get_unwrapped(tensor)
    return debug_unwrap(inner) if recurse else inner


__getattr__ = attribute("torch._functorch.eager_transforms")
