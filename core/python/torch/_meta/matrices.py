"""Products of matrices and vectors, joining, and copies of other shapes."""
import torch

from . import prims
from .registry import inplace, kernel
from .rules import cast_for_math, check, kind_of, memory_format_of, promoted, result_type, convert, wrap_dim


@kernel("mm")
def mm(self, mat2):
    check(self.dim() == 2, "a must be 2D")
    check(mat2.dim() == 2, "b must be 2D")
    check(self.shape[1] == mat2.shape[0], lambda: "a and b must have same reduction dim, but got [%d, %d] X [%d, %d]." % (*self.shape, *mat2.shape))
    return self.new_empty((self.shape[0], mat2.shape[1]), dtype=self.dtype)


def _batches(a, b):
    check(a.dim() == 3, "batch1 must be a 3D tensor")
    check(b.dim() == 3, "batch2 must be a 3D tensor")
    check(a.dtype == b.dtype, lambda: "expected scalar type %s but found %s" % (a.dtype, b.dtype))
    check(b.shape[0] == a.shape[0] and b.shape[1] == a.shape[2],
          lambda: "Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: [%d, %d]." % (a.shape[0], a.shape[2], b.shape[0], b.shape[1]))
    return b.new_empty((a.shape[0], a.shape[1], b.shape[2]))


@kernel("bmm")
def bmm(self, mat2):
    return _batches(self, mat2)


@kernel("baddbmm")
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    shape = batch1.shape[0], batch1.shape[1], batch2.shape[2]
    if self.shape != shape:
        self = self.expand(shape)
    check(batch1.dim() == 3, "batch1 must be a 3D tensor")
    check(batch2.dim() == 3, "batch2 must be a 3D tensor")
    check(self.dtype == batch1.dtype == batch2.dtype, lambda: "Input dtypes must be the same, got: input: %s, batch1: %s, batch2: %s" % (self.dtype, batch1.dtype, batch2.dtype))
    check(batch2.shape[0] == batch1.shape[0] and batch2.shape[1] == batch1.shape[2],
          lambda: "Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: [%d, %d]." % (batch1.shape[0], batch1.shape[2], batch2.shape[0], batch2.shape[1]))
    return self.new_empty(self.shape)


@kernel("addmm")
@cast_for_math
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    if kind_of(self.dtype) in (bool, int):
        beta, alpha = int(beta), int(alpha)
    out = alpha * torch.mm(mat1, mat2)
    return out if beta == 0 else out + beta * self


@kernel("addmv")
@cast_for_math
def addmv(self, mat, vec, *, beta=1, alpha=1):
    if kind_of(self.dtype) in (bool, int):
        beta, alpha = int(beta), int(alpha)
    out = alpha * torch.mv(mat, vec)
    return out if beta == 0 else out + beta * self


@kernel("mv")
@cast_for_math
def mv(self, vec):
    check(self.dim() == 2 and vec.dim() == 1, lambda: "matrix @ vector expected, got %d, %d" % (self.dim(), vec.dim()))
    check(self.shape[1] == vec.shape[0], lambda: "size mismatch, got input (%dx%d), vec (%d)" % (*self.shape, vec.shape[0]))
    return (self * vec).sum(dim=1)


@kernel("dot")
@promoted(("self", "tensor"))
def dot(self, tensor):
    check(self.dim() == 1 and tensor.dim() == 1, lambda: "1D tensors expected, but got %dD and %dD tensors" % (self.dim(), tensor.dim()))
    check(self.shape == tensor.shape, lambda: "inconsistent tensor size, expected tensor [%d] and src [%d] to have the same number of elements, but got %d and %d elements respectively"
          % (self.numel(), tensor.numel(), self.numel(), tensor.numel()))
    return (self * tensor).sum()


@kernel("cat")
def cat(tensors, dim=0):
    check(len(tensors) > 0, "cat expects at least one tensor, but received zero!", ValueError)
    result = result_type(tensors, "keep")[1]
    tensors = [convert(t, result) for t in tensors]
    example = next((t for t in tensors if t.dim() != 1), tensors[0])
    used = []
    for at, t in enumerate(tensors):
        check(t.dim() in (1, example.dim()), lambda: "Number of dimensions of tensors must match.  Expected %d-D tensors, but got %d-D for tensor number %d in the list" % (example.dim(), t.dim(), at))
        if t.dim() != example.dim():
            check(t.shape[0] == 0, lambda: "Number of dimensions of tensors must match.  Expected %d-D tensors, but got 1-D for tensor number %d in the list" % (example.dim(), at))
        elif t.dim() != 1 or t.shape[0] != 0:
            used.append(t)
    formats = {memory_format_of(t) for t in tensors}
    form = formats.pop() if len(formats) == 1 else torch.contiguous_format
    if not used:
        return torch.empty((0,), dtype=tensors[0].dtype, device=tensors[0].device, memory_format=form)
    return prims.cat(used, wrap_dim(dim, used[0].dim())).clone(memory_format=form)


@kernel("stack")
def stack(tensors, dim=0):
    check(len(tensors) > 0, "stack expects a non-empty TensorList", AssertionError)
    dim = wrap_dim(dim, tensors[0].dim() + 1)
    if dim == tensors[0].dim():
        return torch.cat([t.unsqueeze(dim) for t in tensors], dim)
    first = tensors[0].shape
    for t in tensors:
        check(t.shape == first, lambda: "stack expects each tensor to be equal size, but got %s at entry 0 " % str(first))
    return torch.cat(tensors, dim).view([*first[:dim], len(tensors), *first[dim:]])


@kernel("repeat")
def repeat(self, repeats):
    check(len(repeats) >= self.dim(), "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    for i, n in enumerate(repeats):
        check(n >= 0, lambda: "Repeats cannot be negative, found %d at index %d" % (n, i))
    shape = [1] * (len(repeats) - self.dim()) + list(self.shape)
    return self.new_empty([n * r for n, r in zip(shape, repeats)])


@kernel("flip")
def flip(self, dims):
    dims = [wrap_dim(d, self.dim()) for d in dims]
    check(len(set(dims)) == len(dims), "duplicate value in the list of dims")
    return torch.clone(self) if self.dim() == 0 else prims.rev(self, dims)


@kernel("roll")
def roll(self, shifts, dims=()):
    dims = [wrap_dim(d, self.dim()) for d in dims]
    if self.numel() == 0:
        return self.clone()
    if len(shifts) == 1 and not dims:
        return torch.roll(torch.flatten(self), shifts, 0).view(self.shape)
    check(len(shifts) == len(dims), lambda: "shifts and dimensions must align. shifts: %d, dims: %d" % (len(shifts), len(dims)))
    if len(dims) > 1:
        return torch.roll(torch.roll(self, (shifts[0],), dims[0]), shifts[1:], dims[1:])
    size = self.shape[dims[0]]
    places = torch.arange(size, device=self.device)
    return self.index_select(dims[0], torch.fmod((size - shifts[0]) % size + places, size))


def _triangle(within):
    def run(self, diagonal=0):
        check(self.dim() >= 2, lambda: "%s: input tensor must have at least 2 dimensions" % within)
        h, w = self.shape[-2:]
        away = torch.arange(w, device=self.device).unsqueeze(-2) - torch.arange(h, device=self.device).unsqueeze(-1)
        mask = away <= diagonal if within == "tril" else away >= diagonal
        kept = mask.logical_and(self) if self.dtype is torch.bool else torch.where(mask, self, 0)
        return kept.contiguous()
    kernel(within)(run)
    inplace(run, within + "_")


_triangle("tril")
_triangle("triu")


@kernel("_unsafe_view")
def unsafe_view(self, size):
    return torch.ops.aten.view.default(self, size)


@kernel("unsafe_split.Tensor")
def unsafe_split(self, split_size, dim=0):
    return torch.ops.aten.split.Tensor(self, split_size, dim)
