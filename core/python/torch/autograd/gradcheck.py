"""Gradients checked by small differences, in the calls that PyTorch's slow mode makes."""
import collections.abc
import itertools
import warnings

from .. import _C
from .._missing import attribute, missing
from .function import Function
from .modes import enable_grad

_V = _C._VariableFunctions


class GradcheckError(RuntimeError):
    """A gradient that is not what the differences say."""


class UndefinedGrad(Function):
    """Gives no gradient."""

    @staticmethod
    def forward(ctx, x):
        with enable_grad():
            return _C._shallow_data(x.clone())

    @staticmethod
    def backward(ctx, grad):
        return None


def _undefined(tensor):
    output = UndefinedGrad.apply(tensor)
    _C._take_sequence_number()  # in stock the function and its gradient are two nodes
    return output


def _as_tuple(x):
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def _tensors(x, only_requiring_grad=False):
    if isinstance(x, _C.TensorBase):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, collections.abc.Iterable) and not isinstance(x, str):
        for one in x:
            yield from _tensors(one, only_requiring_grad)


def _floating(t):
    return isinstance(t, _C.TensorBase) and (t.is_floating_point() or t.is_complex())


def _differentiable(outputs):
    return tuple(o for o in _as_tuple(outputs) if o.requires_grad)


def _numerical_columns(fn, inputs, target, outputs, eps):
    """By output: the Jacobian with respect to this input, an element of it at a time."""
    columns = {}
    elements = target.data
    for number, index in enumerate(itertools.product(*(range(n) for n in elements.size()))):
        place = elements[index].data

        def run():
            return tuple(a.clone() for a in _as_tuple(fn(*inputs)))

        def difference(delta):
            before = place.clone()
            place.copy_(before - delta)
            low = run()
            place.copy_(before + delta)
            high = run()
            place.copy_(before)
            for a, b in zip(low, high):
                for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
                    if x != y:
                        raise AssertionError("Expected `func` to return outputs with the same %s when inputs are perturbed on index %s by %s, but got: %ss %s and %s."
                                             % (what, index, eps, what, x, y))
            return [((b - a) / (2 * eps)).detach().reshape(-1) for a, b in zip(low, high)]
        columns[number] = difference(eps)
        if elements.is_complex():
            columns[number] = [dx + dy * 1j for dx, dy in zip(columns[number], difference(eps * 1j))]
    jacobians = [o.new_zeros((target.numel(), o.numel()), dtype=target.dtype if target.dtype.is_complex else None) for o in outputs if _floating(o)]
    for i, jacobian in enumerate(jacobians):
        for k, column in columns.items():
            jacobian[k] = column[i]
    return jacobians


def _numerical(fn, inputs, outputs, eps):
    """By input, by output."""
    if any(o.is_complex() for o in outputs):
        raise ValueError("Expected output to be non-complex. get_numerical_jacobian no longer supports functions that return complex outputs.")
    return [_numerical_columns(fn, inputs, t, outputs, eps) for t in _tensors(inputs, True)]


def _rows(output, inputs):
    """By input: the gradient of each element of the output."""
    like = output.clone()
    seed = _V.zeros_like(like, memory_format=_C.contiguous_format)
    flat = seed.view(-1)
    rows = [[] for _ in inputs] if flat.numel() else []
    for j in range(flat.numel()):
        flat.zero_()
        flat[j] = 1.0
        for row, g in zip(rows, _grad(output, inputs, seed, retain_graph=True)):
            row.append(None if g is None else g.clone())
    return rows


def _grad(outputs, inputs, grads, **options):
    from . import grad
    return grad(outputs, inputs, grads, allow_unused=True, **options)


def _stacked(rows, inputs, numel):
    targets = list(_tensors(inputs, True))
    jacobians = [t.new_zeros((t.numel(), numel)) for t in _tensors(inputs) if _floating(t) and t.requires_grad]
    sizes_fit = types_fit = True
    for t, jacobian, row in zip(targets, jacobians, rows):
        for j, g in enumerate(row):
            if g is None:
                jacobian[:, j].zero_()
                continue
            if g.size() != t.size():
                sizes_fit = False
            elif g.dtype != t.dtype:
                types_fit = False
            if jacobian[:, j].numel() != g.numel():
                raise AssertionError("Expected out_jacobian column to have %d elements, but got %d" % (g.numel(), jacobian[:, j].numel()))
            jacobian[:, j] = g.reshape(-1)
    return jacobians, sizes_fit, types_fit


def _analytical(inputs, output, nondet_tol, check_grad_dtypes):
    targets = list(_tensors(inputs, True))
    first, second = _rows(output, targets), _rows(output, targets)
    jacobians, sizes_fit, types_fit = _stacked(first, inputs, output.numel())
    again, _, _ = _stacked(second, inputs, output.numel())
    same = all(a.numel() == 0 or not (a - b).abs().max() > nondet_tol for a, b in zip(jacobians, again))
    if not sizes_fit and check_grad_dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not types_fit:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not same:
        raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical gradient "
                             "matches numerical gradient.The tolerance for nondeterminism was %s." % nondet_tol)
    return jacobians


def _check_inputs(inputs):
    any_wants = False
    for i, t in enumerate(inputs):
        if not isinstance(t, _C.TensorBase) or not t.requires_grad:
            continue
        if t.dtype not in (_C.float64, _C.complex128):
            warnings.warn("Input #%d requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double "
                          "precision floating point or complex. " % i, stacklevel=4)
        if not all(stride > 0 or size <= 1 for stride, size in zip(t.stride(), t.size())):
            raise RuntimeError("The %dth input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients "
                               "correctly. You should call .contiguous on the input before passing it to gradcheck." % i)
        any_wants = True
    if not any_wants:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")


def _slow(fn, results, inputs, outputs, eps, rtol, atol, check_grad_dtypes, nondet_tol, part=""):
    results = _as_tuple(results)
    numerical = _numerical(fn, inputs, results, eps)
    if not outputs:
        for jacobian in itertools.chain(*numerical):
            if _V.ne(jacobian, 0).sum() > 0:
                raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    by_output = [n for o, n in zip(results, zip(*numerical)) if o.requires_grad]
    for i, o in enumerate(outputs):
        for j, (a, n) in enumerate(zip(_analytical(inputs, o, nondet_tol, check_grad_dtypes), by_output[i])):
            n = n.to(a.device)
            wide = _V.promote_types(a.dtype, n.dtype) if hasattr(_V, "promote_types") else a.dtype
            if not _V.allclose(a.to(dtype=wide), n.to(dtype=wide), rtol, atol):
                raise GradcheckError("%sJacobian mismatch for output %d with respect to input %d,\nnumerical:%s\nanalytical:%s\n" % (part, i, j, n, a))


def _check_scaling(outputs, inputs):
    """Without a gradient of the outputs the inputs have none either."""
    targets = list(_tensors(inputs, True))
    grads = _grad(outputs, targets, [_V.zeros_like(o, memory_format=_C.contiguous_format) for o in outputs])
    for g, t in zip(grads, targets):
        if g is None:
            continue
        if not g.eq(0).all():
            raise GradcheckError("backward not multiplied by grad_output")
        for what, differs in (("type", g.dtype != t.dtype), ("device", g.device != t.device), ("size", g.size() != t.size())):
            if differs:
                raise GradcheckError("grad is incorrect " + what)


def _check_undefined(fn, outputs, inputs):
    targets = list(_tensors(inputs, True))
    cases = [[_undefined(o) for o in _differentiable(fn(*inputs))]]
    if len(cases[0]) > 1:
        for i in range(len(outputs)):
            cases.append([_undefined(o) if k == i else o for k, o in enumerate(_differentiable(fn(*inputs)))])
    for case in cases:
        zeros = [_V.zeros_like(o, memory_format=_C.contiguous_format) for o in case]
        notes = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
        try:
            grads = _grad(case, targets, zeros)
        except RuntimeError as e:
            raise GradcheckError("Expected backward function to handle undefined output grads. " + notes) from e
        if any(g is not None and not g.eq(0).all() for g in grads):
            raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero. " + notes)


def _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes):
    inputs = _as_tuple(inputs)
    _check_inputs(inputs)
    results = func(*inputs)
    outputs = _differentiable(results)
    options = (eps, rtol, atol, check_grad_dtypes, nondet_tol)
    if any(o.is_complex() for o in _as_tuple(results)):
        for part, name in ((lambda o: o.imag, "imaginary"), (lambda o: o.real, "real")):
            def one(*args, part=part):
                return tuple(part(o) if o.is_complex() else o for o in _as_tuple(func(*args)))
            of_part = one(*inputs)
            _slow(one, of_part, inputs, _differentiable(of_part), *options, "While considering the %s part of complex outputs only, " % name)
    else:
        _slow(func, results, inputs, outputs, *options)
    _check_scaling(outputs, inputs)
    if check_undefined_grad:
        _check_undefined(func, outputs, inputs)
    return True


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    for name, on in (("check_batched_grad", check_batched_grad), ("check_forward_ad", check_forward_ad), ("fast_mode", fast_mode)):
        if on:
            missing("torch.autograd.gradcheck(%s=True)" % name)
    try:
        return _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    for name, on in (("gen_non_contig_grad_outputs", gen_non_contig_grad_outputs), ("check_fwd_over_rev", check_fwd_over_rev)):
        if on:
            missing("torch.autograd.gradgradcheck(%s=True)" % name)
    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        from ..testing import make_tensor
        grad_outputs = tuple(make_tensor(o.shape, dtype=o.dtype if _floating(o) else _C.float64, device=o.device, low=-1, high=1, requires_grad=True)
                             for o in _differentiable(func(*inputs)))
    else:
        grad_outputs = _as_tuple(grad_outputs)
    count = len(grad_outputs)
    wanted = {i for i, t in enumerate(inputs) if isinstance(t, _C.TensorBase) and t.requires_grad}
    wanted_grads = {i for i, t in enumerate(grad_outputs) if t.requires_grad}

    def gradients(*args):
        given = tuple(t.requires_grad_() if i in wanted else t for i, t in enumerate(args[:-count]))
        outputs = _differentiable(func(*given))
        seeds = tuple(t.requires_grad_() if i in wanted_grads else t for i, t in enumerate(args[-count:]))
        return _grad(outputs, tuple(t for i, t in enumerate(given) if i in wanted), seeds, create_graph=True)
    return gradcheck(gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, fast_mode=fast_mode)


__getattr__ = attribute("torch.autograd.gradcheck")
