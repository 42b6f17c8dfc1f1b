"""Where kernels for tensors without data are noted, and how they reach the dispatcher."""
import functools
import warnings

from ..library import Library

kernels = {}
_library = Library("aten", "IMPL", "Meta")


def kernel(*names):
    """Of these operators of `aten`, by name and overload."""
    def note(f):
        for name in names:
            kernels[name] = f
        return f
    return note


def written(out, result):
    """What the form with `out=` does with the result."""
    if out.shape != result.shape:
        if out.numel() != 0:
            warnings.warn("An output with one or more elements was resized since it had shape %s which does not match the required output shape {str(shape)}. This behavior is deprecated, and in a future "
                          "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                          "t.resize_(0)." % str(out.shape), stacklevel=3)
        out.resize_(result.shape)
    if out.device != result.device:
        raise RuntimeError("Attempting to copy from device %s to device %s, but cross-device copies are not allowed!" % (result.device, out.device))
    return out.copy_(result)


def inplace(f, *names):
    """In-place forms: what the operator makes is copied into its first argument."""
    @functools.wraps(f)
    def run(self, *args, **kwargs):
        return self.copy_(f(self, *args, **kwargs))
    kernel(*names)(run)


def register(kernels):
    for name, f in kernels.items():
        _library.m.impl("aten::" + name, "Meta", f, False)
