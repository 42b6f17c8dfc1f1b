"""Multiplications and additions of a program's products and convolutions, counted where its operators run."""
import functools
from collections import defaultdict
from math import prod

from .. import _C
from .._missing import attribute, missing
from .._ops import OpOverloadPacket, ops
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map
from .module_tracker import ModuleTracker

flop_registry = {}


def _by_shapes(formula):
    def shape(v):
        return v.shape if isinstance(v, _C.TensorBase) else v

    @functools.wraps(formula)
    def counted(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)
    return counted


def register_flop_formula(targets, get_raw=False):
    def register(formula):
        counted = formula if get_raw else _by_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError("register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), or JitFunction, got %s which is of type %s"
                                 % (target, type(target)))
            if target in flop_registry:
                raise RuntimeError("duplicate registrations for %s" % target)
            flop_registry[target] = counted
        return counted
    return register


@register_flop_formula(ops.aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    m, k = a_shape
    same, n = b_shape
    if k != same:
        raise AssertionError("matmul: inner dimensions must match (k == k2), got %s and %s" % (k, same))
    return m * n * 2 * k


@register_flop_formula(ops.aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop.__wrapped__(a_shape, b_shape)


@register_flop_formula(ops.aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    batch, m, k = a_shape
    return batch * m * b_shape[2] * 2 * k


@register_flop_formula(ops.aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return bmm_flop.__wrapped__(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Every place of the output (of the input, if transposed) meets the whole filter; neither bias nor padding counts."""
    return prod((x_shape if transposed else out_shape)[2:]) * prod(w_shape) * x_shape[0] * 2


@register_flop_formula([ops.aten.convolution, ops.aten._convolution])
def conv_flop(x_shape, w_shape, bias, stride, padding, dilation, transposed, *args, out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(ops.aten.convolution_backward)
def conv_backward_flop(grad_out_shape, x_shape, w_shape, bias, stride, padding, dilation, transposed, output_padding, groups, output_mask, out_shape=None):
    def turned(shape):
        return [shape[1], shape[0], *shape[2:]]
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        x, by = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(turned(x), turned(by), turned(out_shape[1]))
    return count


class FlopCounterMode:
    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth, self.display, self.mode = depth, display, None
        self.flop_registry = {**flop_registry, **{k: v if getattr(v, "_get_raw", False) else _by_shapes(v) for k, v in (custom_mapping or {}).items()}}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth=None):
        import tabulate
        tabulate.PRESERVE_WHITESPACE = True
        depth = depth or self.depth or 999999
        total = self.get_total_flops()
        names = ("", "K", "M", "B", "T")
        step = max((i for i in range(len(names)) if total >= 1000 ** i), default=0)

        def rows(name, level):
            counts = self.flop_counts[name]
            values = [(name, sum(counts.values()))] + [(" - " + str(k), v) for k, v in counts.items()]
            return [[" " * level + text, ("%.3f" % (v / 1000 ** step)) + names[step], "%.2f%%" % (v / total * 100) if total else "0%"] for text, v in values]
        found, whole = [], False
        for name in sorted(self.flop_counts):
            level = name.count(".") + 1
            if name != "Global" and level <= depth:
                whole |= sum(self.flop_counts[name].values()) >= total
                found += rows(name, level - 1)
        if "Global" in self.flop_counts and not whole:
            found = rows("Global", 0) + [[" " + row[0], *row[1:]] for row in found]
        return tabulate.tabulate(found or [["Global", "0", "0%"]], headers=["Module", "FLOP", "% Total"], colalign=("left", "right", "right"))

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Mode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *error):
        result = self.mode.__exit__(*error)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))
        return result

    def _count(self, called, out, args, kwargs):
        if called in self.flop_registry:
            count = self.flop_registry[called](*args, **kwargs, out_val=out)
            for parent in set(self.mod_tracker.parents):
                self.flop_counts[parent][called] += count
        return out


class _Mode(TorchDispatchMode):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        called = func.overloadpacket
        if called not in self.counter.flop_registry and _C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
            missing("FlopCounterMode of %s, which PyTorch takes apart there" % func.name())
        return self.counter._count(called, func(*args, **kwargs), args, kwargs)


__getattr__ = attribute("torch.utils.flop_counter")
