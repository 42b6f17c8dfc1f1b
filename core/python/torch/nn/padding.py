"""Layers that put something around what they get."""
from . import functional as F
from .module import Module


class _Pad(Module):
    dimensions, mode = 1, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = (padding,) * (2 * self.dimensions) if isinstance(padding, int) else tuple(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return "%s" % (self.padding,)


class _Constant(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return "padding=%s, value=%s" % (self.padding, self.value)


class _Zero(_Constant):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class _Circular(_Pad):
    mode = "circular"

    def forward(self, input):
        least = self.dimensions + 1
        if input.dim() not in (least, least + 1):
            raise ValueError("expected %dD or %dD input (got %dD input)" % (least, least + 1, input.dim()))
        return super().forward(input)


def _pad(name, base, dimensions, **members):
    return type("%s%dd" % (name, dimensions), (base,), {"dimensions": dimensions, **members})


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_pad("ConstantPad", _Constant, n) for n in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_pad("ZeroPad", _Zero, n) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_pad("ReflectionPad", _Pad, n, mode="reflect") for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_pad("ReplicationPad", _Pad, n, mode="replicate") for n in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_pad("CircularPad", _Circular, n) for n in (1, 2, 3))
