"""Jacobians and the products with them, by as many runs of backward as PyTorch makes."""
from .. import _C
from .._missing import attribute, missing
from .modes import enable_grad, set_grad_enabled


def _tuple(given, what, where):
    if isinstance(given, _C.TensorBase):
        return False, (given,)
    if isinstance(given, (tuple, list)) and all(isinstance(t, _C.TensorBase) for t in given):
        return True, tuple(given)
    raise TypeError("The %s given to %s must be either a Tensor or a tuple of Tensors" % (what, where))


def _prepared(inputs, create_graph, need_graph):
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(need_graph) for t in inputs)


def _finished(results, create_graph):
    return results if create_graph else tuple(t.detach() for t in results)


def _grad(outputs, inputs, grad_outputs=None, create_graph=False, retain_graph=None):
    from . import grad
    grad_outputs = grad_outputs or (None,) * len(outputs)
    chosen = [(o, g) for o, g in zip(outputs, grad_outputs) if o is not None and o.requires_grad]
    if not chosen:
        return (None,) * len(inputs)
    return grad([o for o, _ in chosen], inputs, [g for _, g in chosen], allow_unused=True, create_graph=create_graph, retain_graph=retain_graph)


def _filled(grads, like):
    return tuple(_C._VariableFunctions.zeros_like(t) if g is None else g for g, t in zip(grads, like))


def _unpacked(results, as_tuple):
    return results if as_tuple else results[0]


def _refuse(strict):
    if strict:
        missing("torch.autograd.functional with strict=True")


def _by_tangents(func, inputs, vectorize):
    from .._functorch.forward_transforms import jacfwd
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.")
    several, inputs = _tuple(inputs, "inputs", "jacobian")
    rows = jacfwd(func, argnums=tuple(range(len(inputs))))(*inputs)
    many = isinstance(rows[0], tuple)
    rows = tuple(row if several else row[0] for row in (rows if many else (rows,)))
    return rows if many else list(rows[0]) if several else rows[0]


def _at_once(outputs, inputs, create_graph):
    """All rows of the Jacobian by one run of backward over a batch of gradients."""
    from . import grad
    from .._functorch.eager_transforms import basis_in_chunks
    numels = tuple(out.numel() for out in outputs)
    basis = next(basis_in_chunks(outputs, numels))
    chosen = [(out.reshape(-1), b.reshape(sum(numels), -1)) for out, b in zip(outputs, basis) if out.requires_grad]
    found = [None] * len(inputs)
    if chosen:
        found = grad([out for out, _ in chosen], inputs, [b for _, b in chosen], allow_unused=True, create_graph=create_graph, is_grads_batched=True)
    all = [_C._VariableFunctions.zeros_like(t).expand((sum(numels),) + t.shape) if g is None else g for g, t in zip(found, inputs)]
    by_input = [[part.view(out.shape + t.shape) for part, out in zip(g.split(list(numels), dim=0), outputs)] for g, t in zip(all, inputs)]
    return list(zip(*by_input))


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    assert strategy in ("forward-mode", "reverse-mode"), ('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
                                                          '"forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
    _refuse(strict)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError('torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
                                      '`create_graph=False` or `strategy="reverse-mode"`.')
        return _by_tangents(func, inputs, vectorize)
    with enable_grad():
        several, inputs = _tuple(inputs, "inputs", "jacobian")
        inputs = _prepared(inputs, create_graph, True)
        many, outputs = _tuple(func(*inputs), "outputs of the user-provided function", "jacobian")
        rows = _at_once(outputs, inputs, create_graph) if vectorize else []
        for out in () if vectorize else outputs:
            columns = [[] for _ in inputs]
            for j in range(out.nelement()):
                grads = _grad((out.reshape(-1)[j],), inputs, retain_graph=True, create_graph=create_graph)
                for column, g, t in zip(columns, grads, inputs):
                    column.append(_C._VariableFunctions.zeros_like(t) if g is None else g)
            rows.append(tuple(_C._VariableFunctions.stack(c, 0).view(out.size() + t.size()) for c, t in zip(columns, inputs)))
        rows = [_finished(row, create_graph) for row in rows]
        rows = tuple(row if several else row[0] for row in rows)
        return rows if many else rows[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    _refuse(strict)
    several, inputs = _tuple(inputs, "inputs", "hessian")
    by_tangents = outer_jacobian_strategy == "forward-mode"

    def single(*args):
        out = func(*args)
        if not isinstance(out, _C.TensorBase) or out.nelement() != 1:
            raise RuntimeError("The function given to hessian should return a single-element Tensor")
        return out.squeeze()

    def rows(*args):
        if by_tangents:
            from .._functorch.eager_transforms import jacrev
            return jacrev(single, argnums=tuple(range(len(args))))(*args)
        return jacobian(single, args, create_graph=True, vectorize=vectorize)
    result = jacobian(rows, inputs, create_graph=create_graph, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return result if several else result[0][0]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    _refuse(strict)
    with enable_grad():
        several, inputs = _tuple(inputs, "inputs", "vjp")
        inputs = _prepared(inputs, create_graph, True)
        many, outputs = _tuple(func(*inputs), "outputs of the user-provided function", "vjp")
        if v is not None:
            v = _prepared(_tuple(v, "v", "vjp")[1], create_graph, False)
        elif len(outputs) != 1 or outputs[0].nelement() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
    with set_grad_enabled(True if create_graph else _C.is_grad_enabled()):
        grads = _filled(_grad(outputs, inputs, v, create_graph=create_graph), inputs)
    return _unpacked(_finished(outputs, create_graph), many), _unpacked(_finished(grads, create_graph), several)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    _refuse(strict)
    with enable_grad():
        several, inputs = _tuple(inputs, "inputs", "jvp")
        inputs = _prepared(inputs, create_graph, True)
        if v is not None:
            v = _prepared(_tuple(v, "v", "jvp")[1], create_graph, False)
        elif len(inputs) != 1 or inputs[0].nelement() != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.")
        many, outputs = _tuple(func(*inputs), "outputs of the user-provided function", "jvp")
        weights = tuple(_C._VariableFunctions.zeros_like(out, requires_grad=True) for out in outputs)
        first = _grad(outputs, inputs, weights, create_graph=True)
    with set_grad_enabled(True if create_graph else _C.is_grad_enabled()):
        pairs = [(g, one) for g, one in zip(first, v or (None,) * len(first)) if g is not None]
        grads = _filled(_grad([g for g, _ in pairs], weights, tuple(one for _, one in pairs), create_graph=create_graph), outputs)
    return _unpacked(_finished(outputs, create_graph), many), _unpacked(_finished(grads, create_graph), many)


def _scalar_products(name, func, inputs, v, create_graph, product):
    """A scalar function's value, and its Hessian times a vector, which `product(gradient, inputs, v)` gives."""
    with enable_grad():
        several, inputs = _tuple(inputs, "inputs", name)
        inputs = _prepared(inputs, create_graph, True)
        if v is not None:
            v = _prepared(_tuple(v, "v", name)[1], create_graph, False)
        elif len(inputs) != 1 or inputs[0].nelement() != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.")
        many, outputs = _tuple(func(*inputs), "outputs of the user-provided function", name)
        if many:
            raise RuntimeError("The function given to %s should return a single Tensor" % name)
        if outputs[0].nelement() != 1:
            raise RuntimeError("The Tensor returned by the function given to %s should contain a single element" % name)
        left, right, v = product(_grad(outputs, inputs, create_graph=True), inputs, v)
    with set_grad_enabled(True if create_graph else _C.is_grad_enabled()):
        found = _filled(_grad(left, right, v, create_graph=create_graph), inputs)
    return _unpacked(_finished(outputs, create_graph), many), _unpacked(_finished(found, create_graph), several)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    _refuse(strict)
    return _scalar_products("vhp", func, inputs, v, create_graph, lambda gradient, inputs, v: (gradient, inputs, v))


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    _refuse(strict)

    def twice(gradient, inputs, v):
        weights = tuple(_C._VariableFunctions.zeros_like(t, requires_grad=True) for t in inputs)
        back = _grad(gradient, inputs, weights, create_graph=True)
        return back, weights, v
    return _scalar_products("hvp", func, inputs, v, create_graph, twice)


__getattr__ = attribute("torch.autograd.functional")
