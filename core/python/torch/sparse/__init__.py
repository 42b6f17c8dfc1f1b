"""Sparse tensors: what torch.sparse has, and the functions of torch that make them."""
from .. import _C
from .._missing import attribute, missing

mm, addmm = _C._sparse._sparse_mm, _C._sparse._sparse_addmm
sampled_addmm, spdiags = _C._sparse.sparse_sampled_addmm, _C._sparse._spdiags
softmax, log_softmax = _C._sparse._sparse_softmax, _C._sparse._sparse_log_softmax


def sum(input, dim=None, dtype=None):  # noqa: A001
    total = _C._VariableFunctions._sparse_sum
    if dim is None:
        return total(input) if dtype is None else total(input, dtype=dtype)
    dim = [dim] if isinstance(dim, int) else list(dim)
    return total(input, dim) if dtype is None else total(input, dim, dtype=dtype)


class check_sparse_tensor_invariants:
    """Whether new sparse tensors are checked: for the process, or as a context or decorator."""

    @staticmethod
    def is_enabled():
        return _C._check_sparse_tensor_invariants()

    @staticmethod
    def enable():
        _C._set_check_sparse_tensor_invariants(True)

    @staticmethod
    def disable():
        _C._set_check_sparse_tensor_invariants(False)

    def __init__(self, enable=True):
        self.state, self.saved_state = enable, None

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager instance for context nesting.")
        self.saved_state = self.is_enabled()
        _C._set_check_sparse_tensor_invariants(self.state)

    def __exit__(self, *error):
        _C._set_check_sparse_tensor_invariants(self.saved_state)
        self.saved_state = None

    def __call__(self, f):
        def checked(*args, **kwargs):
            with type(self)(self.state):
                return f(*args, **kwargs)
        return checked


def _options(device, pin_memory):
    if device is not None and _C.device(device).type != "cpu":
        missing("sparse tensors on " + str(device))
    if pin_memory:
        missing("pinned memory")


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None, is_coalesced=None):
    _options(device, pin_memory)
    if values is None:  # the size alone
        return _C._empty_coo_tensor(list(indices if size is None else size), dtype, requires_grad)
    return _C._sparse_coo_tensor(indices, values, None if size is None else list(size), dtype, requires_grad, check_invariants, is_coalesced)


def _compressed(layout, first, second):
    names = (first, second, "values", "size")

    def make(*args, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None, **named):
        _options(device, pin_memory)
        given = dict(zip(names, args), **named)
        size = given.get("size")
        _warn_once(layout)
        return _C._sparse_compressed_tensor(layout, given[first], given[second], given["values"], None if size is None else list(size), dtype, requires_grad, check_invariants)
    return make


_warned = []


def _warn_once(layout):
    if not _warned:
        import warnings
        _warned.append(layout)
        warnings.warn("Sparse %s tensor support is in beta state. If you miss a functionality in the sparse tensor support, please submit a feature request to "
                      "https://github.com/pytorch/pytorch/issues." % str(layout)[-3:].upper(), stacklevel=3)


sparse_csr_tensor = _compressed(_C.sparse_csr, "crow_indices", "col_indices")
sparse_csc_tensor = _compressed(_C.sparse_csc, "ccol_indices", "row_indices")
sparse_bsr_tensor = _compressed(_C.sparse_bsr, "crow_indices", "col_indices")
sparse_bsc_tensor = _compressed(_C.sparse_bsc, "ccol_indices", "row_indices")


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, layout=None, **options):
    makers = {_C.sparse_csr: sparse_csr_tensor, _C.sparse_csc: sparse_csc_tensor, _C.sparse_bsr: sparse_bsr_tensor, _C.sparse_bsc: sparse_bsc_tensor}
    if layout not in makers:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got none")
    return makers[layout](compressed_indices, plain_indices, values, *([] if size is None else [size]), **options)


for _f, _name in ((sparse_csr_tensor, "sparse_csr_tensor"), (sparse_csc_tensor, "sparse_csc_tensor"), (sparse_bsr_tensor, "sparse_bsr_tensor"),
                  (sparse_bsc_tensor, "sparse_bsc_tensor")):
    _f.__name__ = _f.__qualname__ = _name
__getattr__ = attribute("torch.sparse")
