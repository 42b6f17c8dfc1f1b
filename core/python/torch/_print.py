"""Tensors as text, laid out as PyTorch does it. No operator is called for it."""
import math

from . import _C

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


def _flat(values):
    if isinstance(values, list):
        for v in values:
            yield from _flat(v)
    else:
        yield values


class _Format:
    """One width and notation for all numbers of a tensor."""

    def __init__(self, dtype, values):
        self.floating = dtype.is_floating_point
        self.whole = self.scientific = False
        self.width = 1
        if not self.floating:
            self.width = max([1] + [len(str(v)) for v in values])
            return
        finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
        if not finite:
            self.whole = True  # nothing to measure by: no width either
            return
        low, high = min(finite), max(finite)
        self.whole = all(v == math.ceil(v) for v in finite)
        self.scientific = high / low > 1000.0 or high > 1.0e8 or (not self.whole and low < 1.0e-4)
        if _options["sci_mode"] is not None:
            self.scientific = _options["sci_mode"]
        self.width = max(len(self.text(v, 0)) for v in values if math.isfinite(v) and v != 0)

    def text(self, v, width=None):
        if not self.floating:
            out = str(v)
        elif self.scientific:
            out = "%.*e" % (_options["precision"], v)
        elif self.whole:
            out = "%.0f" % v
            if math.isfinite(v):
                out += "."
        else:
            out = "%.*f" % (_options["precision"], v)
        return out.rjust(self.width if width is None else width)


def _summarised(values, dims, cut):
    if dims == 0 or not cut:
        return values
    edge = _options["edgeitems"]
    if len(values) > 2 * edge:
        values = values[:edge] + values[-edge:]
    return [_summarised(v, dims - 1, cut) for v in values] if dims > 1 else values


def _vector(values, indent, f, cut):
    edge = _options["edgeitems"]
    a_line = max(1, int(math.floor((_options["linewidth"] - indent) / (f.width + 2))))
    if cut and len(values) > 2 * edge:
        cells = [f.text(v) for v in values[:edge]] + [" ..."] + [f.text(v) for v in values[-edge:]]
    else:
        cells = [f.text(v) for v in values]
    lines = [cells[i:i + a_line] for i in range(0, len(cells), a_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _body(values, dims, indent, f, cut):
    if dims == 0:
        return f.text(values)
    if dims == 1:
        return _vector(values, indent, f, cut)
    edge = _options["edgeitems"]
    if cut and len(values) > 2 * edge:
        parts = [_body(v, dims - 1, indent + 1, f, cut) for v in values[:edge]] + ["..."] + [_body(v, dims - 1, indent + 1, f, cut) for v in values[-edge:]]
    else:
        parts = [_body(v, dims - 1, indent + 1, f, cut) for v in values]
    return "[" + ("," + "\n" * (dims - 1) + " " * (indent + 1)).join(parts) + "]"


def text(t):
    from . import Tensor
    from .nn.parameter import Parameter
    prefix = "tensor("
    suffixes = []
    usual = t.dtype in (_C.get_default_dtype(), _C.int64, _C.bool)
    if t.is_meta:
        suffixes.append("device='meta'")
        suffixes.append("size=%s" % (tuple(t.shape),))
        body = "..."
        usual = t.dtype is _C.get_default_dtype()
    elif t.numel() == 0:
        body = "[]"
        if t.dim() != 1:
            suffixes.append("size=%s" % (tuple(t.shape),))
        usual = t.dtype is _C.get_default_dtype()
    else:
        values = _C._values(t)
        cut = t.numel() > _options["threshold"]
        f = _Format(t.dtype, list(_flat(_summarised(values, t.dim(), cut))))
        body = _body(values, t.dim(), len(prefix), f, cut)
    if not usual:
        suffixes.append("dtype=%s" % t.dtype)
    if t.grad_fn is not None:
        suffixes.append("grad_fn=<%s>" % t.grad_fn.name().rsplit("::", 1)[-1])
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    out, last = prefix + body, len(prefix + body) - (prefix + body).rfind("\n") - 1
    for s in suffixes:
        if last + len(s) + 2 > _options["linewidth"]:
            out += ",\n" + " " * len(prefix) + s
            last = len(prefix) + len(s)
        else:
            out += ", " + s
            last += len(s) + 2
    out += ")"
    if isinstance(t, Parameter):
        return "Parameter containing:\n" + out
    return out if type(t) is Tensor else type(t).__name__ + out[len("tensor"):]
