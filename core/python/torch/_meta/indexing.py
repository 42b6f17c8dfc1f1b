"""Choosing and placing elements by index."""
import torch

from ..library import Library
from .registry import kernel
from .rules import broadcast, check, contiguous_strides, physical_layout, wrap_dim


@kernel("index_select")
def index_select(self, dim, index):
    return self.new_empty([index.numel() if i == dim % max(self.dim(), 1) else n for i, n in enumerate(self.shape)])


def _checked(name, self, dim, index):
    check(index.numel() == 0 or index.dtype in (torch.int64, torch.int32), lambda: "%s(): Expected dtype int32/int64 for index%s" % (name, ", but got %s" % index.dtype if name == "gather" else ""))


@kernel("gather")
def gather(self, dim, index, *, sparse_grad=False):
    dim = wrap_dim(dim, self.dim())
    _checked("gather", self, dim, index)
    if index.numel() != 0:
        check(max(self.dim(), 1) == max(index.dim(), 1), "Index tensor must have the same number of dimensions as input tensor")
        for i in range(self.dim()):
            check(i == dim or index.shape[i] <= self.shape[i], lambda: "Size does not match at dimension %d expected index %s to be no larger than self %s apart from dimension %d" % (
                i, list(index.shape), list(self.shape), dim))
    return self.new_empty(index.shape)


def _scatter(self, dim, index, src):
    dim = wrap_dim(dim, self.dim())
    _checked("scatter", self, dim, index)
    if isinstance(src, torch.Tensor) and index.numel() != 0:
        check(max(self.dim(), 1) == max(index.dim(), 1), "Index tensor must have the same number of dimensions as self tensor")
        fits = all(index.shape[i] <= src.shape[i] and (i == dim or index.shape[i] <= self.shape[i]) for i in range(self.dim()))
        check(fits, lambda: "Expected index %s to be no larger than self %s apart from dimension %d and to be no larger than src %s" % (
            list(index.shape), list(self.shape), dim, list(src.shape)))


@kernel("scatter.src", "scatter.value", "scatter_add")
def scatter(self, dim, index, src):
    _scatter(self, dim, index, src)
    return self.new_empty(self.shape)


@kernel("scatter_.src", "scatter_.value", "scatter_add_")
def scatter_(self, dim, index, src):
    _scatter(self, dim, index, src)
    return self


@kernel("masked_fill_.Scalar", "index_put_")
def placed_(self, *args, **kwargs):
    return self


@kernel("index_put")
def index_put(self, indices, values, accumulate=False):
    return torch.empty_like(self)


@kernel("nonzero")
def nonzero(self):
    raise NotImplementedError("The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent implementation does not exist. This implementation "
                              "returns a fake value, assuming all elements of the tensor are non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.")


@kernel("index.Tensor")
def index(self, indices):
    found = []
    for at, i in enumerate(indices):
        check(i is None or i.dtype in (torch.int64, torch.int32, torch.int8, torch.bool), "tensors used as indices must be long, int, byte or bool tensors")
        if i is None or i.dtype not in (torch.int8, torch.bool):
            found.append(i)
            continue
        chosen = i.nonzero()
        found.extend(chosen.select(1, j) for j in range(i.dim()))
    check(len(found) <= self.dim(), lambda: "too many indices for tensor of dimension %d (got %d)" % (self.dim(), len(found)))
    used = [i for i in found if i is not None]
    used = iter(broadcast(*used))
    found = [i if i is None else next(used) for i in found] + [None] * (self.dim() - len(found))
    places = [d for d, i in enumerate(found) if i is not None]
    if places != list(range(places[0], places[-1] + 1)):
        # Indices that don't stand side by side put their dimensions first.
        rest = [d for d in range(self.dim()) if d not in places]
        self, found = self.permute(places + rest), [found[d] for d in places + rest]
        places = list(range(len(places)))
    new = list(found[places[0]].shape)
    first, last = places[0], places[-1] + 1
    out = self.new_empty([*self.shape[:first], *new, *self.shape[last:]])
    if self.numel() == 0:
        return out
    # What isn't indexed lies as it did.
    read = self.as_strided(out.shape, [*self.stride()[:first], *[0] * len(new), *self.stride()[last:]])
    order = physical_layout([read])
    if order == list(range(out.dim())):
        return out
    steps = contiguous_strides([out.shape[d] for d in order])
    return out.as_strided(out.shape, [steps[order.index(d)] for d in range(out.dim())])


@kernel("_local_scalar_dense")
def local_scalar(self):
    raise RuntimeError("Tensor.item() cannot be called on meta tensors")


@kernel("index_add")
def index_add(self, dim, index, source, *, alpha=1):
    dim = wrap_dim(dim, self.dim())
    if alpha != 1:
        source = source * alpha
    return torch.ops.aten.index_put.default(self, [None] * dim + [index], source, True)


_overlaps = Library("aten", "FRAGMENT")
_overlaps.define("_debug_has_internal_overlap(Tensor self) -> int")


def _has_internal_overlap(self):
    """0: no two elements lie at one place; 1: some do; 2: who knows."""
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(self.stride(), self.shape) if size != 1):
        if stride == 0:
            return 1
        if stride != step:
            return 2
        step *= size
    return 0


_overlaps.impl("_debug_has_internal_overlap", _has_internal_overlap, "CompositeImplicitAutograd")


@kernel("slice_scatter", "select_scatter", "diagonal_scatter")
def scattered(self, *args, **kwargs):
    """A copy that lies as the original does, gaps and all."""
    torch.ops.aten._debug_has_internal_overlap.default(self)
    needed = 0 if self.numel() == 0 else 1 + self.storage_offset() + sum((n - 1) * s for n, s in zip(self.shape, self.stride()))
    copy = torch.as_strided(self, (needed,), (1,), 0).clone()
    return torch.as_strided(copy, self.shape, self.stride(), self.storage_offset())


@kernel("unfold")
def unfold(self, dimension, size, step):
    dim = wrap_dim(dimension, self.dim())
    shape, stride = list(self.shape) or [1], list(self.stride()) or [1]
    check(size <= shape[dim], lambda: "maximum size for tensor at dimension %d is %d but size is %d" % (dim, shape[dim], size))
    check(step > 0, lambda: "step is %d but must be > 0" % step)
    last = stride[dim]
    shape[dim], stride[dim] = (shape[dim] - size) // step + 1, step * last
    if self.dim() == 0:
        shape, stride = [], []
    return self.as_strided([*shape, size], [*stride, last])
