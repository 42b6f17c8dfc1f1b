"""Tensors as text, by the operators that PyTorch asks for it and in its layout."""
import math

from . import _C
from .autograd.modes import no_grad

_options = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    if profile == "default":
        _options.update(precision=4, threshold=1000, edgeitems=3, linewidth=80)
    elif profile == "short":
        _options.update(precision=2, threshold=1000, edgeitems=2, linewidth=80)
    elif profile == "full":
        _options.update(precision=4, threshold=math.inf, edgeitems=3, linewidth=80)
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems), ("linewidth", linewidth)):
        if value is not None:
            _options[name] = value
    _options["sci_mode"] = sci_mode


class _Format:
    """One width and notation for all numbers of a tensor. `scientific` is a tensor until somebody asks, as in PyTorch."""

    def __init__(self, t):
        from . import ceil, double, isfinite, masked_select
        self.floating = t.dtype.is_floating_point
        self.whole, self.scientific, self.width = True, False, 1
        flat = t.reshape(-1)
        if not self.floating:
            for value in flat:
                self.width = max(self.width, len("%s" % format(value)))
            return
        finite = masked_select(flat, isfinite(flat) & flat.ne(0))
        if finite.numel() == 0:
            return  # nothing to measure by
        sizes = finite.abs().to(dtype=double)
        low = sizes.min().to(dtype=double)
        high = sizes.max().to(dtype=double)
        for value in finite:
            if value != ceil(value):
                self.whole = False
                break
        fixed = _options["sci_mode"]
        self.scientific = (high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4) if fixed is None else fixed
        if self.scientific:
            pattern, more = ".%de" % _options["precision"], 0
        elif self.whole:
            pattern, more = ".0f", 1
        else:
            pattern, more = ".%df" % _options["precision"], 0
        for value in finite:
            self.width = max(self.width, len(format(value, pattern)) + more)

    def text(self, v):
        if not self.floating:
            return str(v).rjust(self.width)
        if self.scientific:
            out = format(v, "%d.%de" % (self.width, _options["precision"]))
        elif self.whole:
            out = "%.0f" % v
            if math.isfinite(v):
                out += "."
        else:
            out = "%.*f" % (_options["precision"], v)
        return out.rjust(self.width)


class _Complex:
    """Two formats: of the real and of the imaginary parts."""

    def __init__(self, real, imaginary):
        self.real, self.imaginary = real, imaginary
        self.width = real.width + imaginary.width + 1

    def text(self, v):
        return self.joined(self.real.text(v.real), self.imaginary.text(v.imag))

    def joined(self, real, imaginary):
        imaginary = (imaginary + "j").lstrip()
        return real + ("" if imaginary[0] in "+-" else "+") + imaginary


def _part(t):
    """The elements that are shown, of a tensor that is cut."""
    from . import cat, stack
    edge = _options["edgeitems"]
    if t.dim() == 0:
        return t
    if t.dim() == 1:
        return cat((t[:edge], t[-edge:])) if t.size(0) > 2 * edge else t
    if t.size(0) > 2 * edge:
        first = [t[i] for i in range(edge)]
        last = [t[i] for i in range(len(t) - edge, len(t))]
        return stack([_part(x) for x in first + last])
    return stack([_part(x) for x in t])


def _vector(t, indent, f, cut):
    edge = _options["edgeitems"]
    a_line = max(1, math.floor((_options["linewidth"] - indent) / (f.width + 2)))
    if cut and t.size(0) > 2 * edge:
        cells = [f.text(v) for v in t[:edge].tolist()] + [" ..."] + [f.text(v) for v in t[-edge:].tolist()]
    else:
        cells = [f.text(v) for v in t.tolist()]
    lines = [cells[i:i + a_line] for i in range(0, len(cells), a_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _body(t, indent, f, cut):
    if t.dim() == 0:
        if isinstance(f, _Complex):
            return f.joined(f.real.text(t.real.item()), f.imaginary.text(t.imag.item()))
        return f.text(t.item())
    if t.dim() == 1:
        return _vector(t, indent, f, cut)
    edge = _options["edgeitems"]
    if cut and t.size(0) > 2 * edge:
        parts = [_body(t[i], indent + 1, f, cut) for i in range(edge)] + ["..."] + [_body(t[i], indent + 1, f, cut) for i in range(len(t) - edge, len(t))]
    else:
        parts = [_body(t[i], indent + 1, f, cut) for i in range(t.size(0))]
    return "[" + ("," + "\n" * (t.dim() - 1) + " " * (indent + 1)).join(parts) + "]"


def _contents(t, indent):
    if t.numel() == 0:
        return "[]"
    cut = t.numel() > _options["threshold"]
    if t.is_neg():
        t = t.resolve_neg()
    if t.is_complex():
        t = t.resolve_conj()
        real = _Format(_part(t.real) if cut else t.real)
        f = _Complex(real, _Format(_part(t.imag) if cut else t.imag))
    else:
        f = _Format(_part(t) if cut else t)
    return _body(t, indent, f, cut)


def text(t):
    with no_grad(), _C._DisableFuncTorch():
        return _wrapper_text(t) if _C._functorch.is_functorch_wrapped_tensor(t) else _text(t)


def _wrapper_text(t):
    """Of a tensor inside of a transform: its level, and what it stands for."""
    levels = _C._functorch
    value = "".join("    " + line for line in repr(levels.get_unwrapped(t)).splitlines(True))
    if levels.is_batchedtensor(t):
        return "BatchedTensor(lvl=%d, bdim=%d, value=\n%s\n)" % (levels.maybe_get_level(t), levels.maybe_get_bdim(t), value)
    return "GradTrackingTensor(lvl=%d, value=\n%s\n)" % (levels.maybe_get_level(t), value)


def _parts(t):
    """A sparse tensor's parts, by the names that are printed."""
    if t.is_sparse:
        yield "indices", t._indices()
        yield "values", t._values()
        return
    rows = t.layout in (_C.sparse_csr, _C.sparse_bsr)
    yield ("crow_indices", t.crow_indices()) if rows else ("ccol_indices", t.ccol_indices())
    yield ("col_indices", t.col_indices()) if rows else ("row_indices", t.row_indices())
    yield "values", t.values()


def _sparse(t, indent, suffixes, usual):
    suffixes += ["size=%s" % (tuple(t.shape),), "nnz=%s" % t._nnz()]
    if not usual:
        suffixes.append("dtype=%s" % t.dtype)
    texts = []
    for name, part in _parts(t):
        start = name + "=tensor("
        part = part.detach()
        size = ", size=%s" % (tuple(part.shape),) if part.numel() == 0 else ""
        texts.append(start + _contents(part, indent + len(start)) + size + ")")
    suffixes.append("layout=%s" % t.layout)
    return (",\n" + " " * indent).join(texts)


def _text(t):
    from . import Tensor
    from .nn.parameter import Parameter
    prefix = "nested_tensor(" if t.is_nested else "tensor(" if type(t) in (Tensor, Parameter) else type(t).__name__ + "("
    suffixes = []
    usual = t.dtype in (_C.get_default_dtype(), _C.complex64, _C.int64, _C.bool)
    if t.layout is not _C.strided:
        body = _sparse(t, len(prefix), suffixes, usual)
    elif t.is_nested:
        from . import ops
        body = "[\n%s\n]" % ",\n".join("\n".join("  " + line for line in str(part).split("\n")) for part in ops.aten.unbind.int(t, 0))
    elif t.is_meta:
        suffixes += ["device='meta'", "size=%s" % (tuple(t.shape),)]
        if t.dtype is not _C.get_default_dtype():
            suffixes.append("dtype=%s" % t.dtype)
        body = "..."
    else:
        if t.numel() == 0:
            if t.dim() != 1:
                suffixes.append("size=%s" % (tuple(t.shape),))
            usual = t.dtype is _C.get_default_dtype()
        if not usual:
            suffixes.append("dtype=%s" % t.dtype)
        body = _contents(t, len(prefix))
    if t.grad_fn is not None:
        suffixes.append("grad_fn=<%s>" % t.grad_fn.name().rsplit("::", 1)[-1])
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    out, last = prefix + body, len(prefix + body) - (prefix + body).rfind("\n") + 1
    if t.is_sparse:
        last = _options["linewidth"]  # a line of their own
    for s in suffixes:
        if last + len(s) + 2 > _options["linewidth"]:
            out += ",\n" + " " * len(prefix) + s
            last = len(prefix) + len(s)
        else:
            out += ", " + s
            last += len(s) + 2
    out += ")"
    return "Parameter containing:\n" + out if isinstance(t, Parameter) else out
