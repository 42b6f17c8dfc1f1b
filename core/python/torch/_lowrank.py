"""Approximate decompositions of large matrices by random products (Halko, Martinsson, Tropp: Finding structure with randomness, 2009)."""
from . import _C

_V = _C._VariableFunctions


def _qr(t):
    return _C._linalg.linalg_qr(t)[0]


def _range_of(matrix, q, niter, taken):
    """An orthonormal basis of about the range of `matrix`, less what is taken off it."""
    def times(m, other, off):
        product = _V.matmul(m(matrix), other)
        return product if off is None else product - _V.matmul(m(off), other)

    kind = matrix.dtype if matrix.is_floating_point() or matrix.is_complex() else _C.float32
    basis = _qr(times(lambda m: m, _V.randn(matrix.shape[-1], q, dtype=kind, device=matrix.device), taken))
    for _ in range(niter):
        basis = _qr(times(lambda m: m.mH, basis, taken))
        basis = _qr(times(lambda m: m, basis, taken))
    return basis


def svd_lowrank(A, q=6, niter=2, M=None):
    q = 6 if q is None else q
    rows, columns = A.shape[-2:]
    taken = None if M is None else M.broadcast_to(A.size())
    wide = rows < columns
    if wide:
        A, taken = A.mH, None if taken is None else taken.mH
    basis = _range_of(A, q, niter, taken)
    small = _V.matmul(basis.mH, A)
    if taken is not None:
        small = small - _V.matmul(basis.mH, taken)
    u, s, vh = _C._linalg.linalg_svd(small, full_matrices=False)
    v = vh.mH
    u = basis.matmul(u)
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A, q=None, center=True, niter=2):
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError("q(=%s) must be non-negative integer and not greater than min(m, n)=%s" % (q, min(rows, columns)))
    if not niter >= 0:
        raise ValueError("niter(=%s) must be non-negative integer" % niter)
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, q, niter=niter, M=None)
