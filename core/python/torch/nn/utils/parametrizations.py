"""Weights by their direction and length, or with a largest singular value of one."""
from ... import _C
from ..._missing import attribute
from ...autograd.modes import no_grad
from .. import functional as F
from ..module import Module
from .parametrize import register_parametrization


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        import torch
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        import torch
        return torch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_older(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        old = [prefix + name + "_g", prefix + name + "_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict["%sparametrizations.%s.original%d" % (prefix, name, i)] = state_dict.pop(key)
    module._register_load_state_dict_pre_hook(from_older)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError("Dimension out of range (expected to be in range of [-%d, %d] but got %d)" % (ndim, ndim - 1, dim))
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations=%d" % n_power_iterations)
        self.dim, self.eps = dim if dim >= 0 else dim + ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight)
            height, width = matrix.size()
            u = matrix.new_empty(height).normal_(0, 1)
            v = matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _as_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, matrix, n_power_iterations):
        mv = _C._VariableFunctions.mv
        with no_grad():
            for _ in range(n_power_iterations):
                self._u = F.normalize(mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
                self._v = F.normalize(mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight):
        import torch
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = (t.clone(memory_format=torch.contiguous_format) for t in (self._u, self._v))
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def dimension_of(module, dim):
    from ..images import ConvTranspose2d
    return dim if dim is not None else 1 if isinstance(module, ConvTranspose2d) else 0


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.TensorBase):
        raise ValueError("Module '%s' has no parameter or buffer with name '%s'" % (module, name))
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dimension_of(module, dim), eps))


def _is_orthogonal(q):
    import torch
    n, k = q.size(-2), q.size(-1)
    unit = torch.eye(k, dtype=q.dtype, device=q.device)
    return torch.allclose(q.mH @ q, unit, atol=10.0 * n * torch.finfo(q.dtype).eps)


def _made_orthogonal(a):
    """By a QR decomposition of a tall matrix, with the signs of R's diagonal."""
    import torch
    x, tau = torch.geqrf(a)
    q = torch.linalg.householder_product(x, tau)
    q *= x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return q


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        import torch
        n, k = x.size(-2), x.size(-1)
        wide = n < k
        if wide:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
            q = torch.linalg.householder_product(a, tau)
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                x = torch.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
            a = x - x.mH
            if self.orthogonal_map == "matrix_exp":
                q = torch.matrix_exp(a)
            else:
                unit = torch.eye(n, dtype=a.dtype, device=a.device)
                q = torch.linalg.solve(torch.add(unit, a, alpha=-0.5), torch.add(unit, a, alpha=0.5))
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, q):
        with no_grad():
            return self._inverse(q)

    def _inverse(self, q):
        import torch
        if q.shape != self.shape:
            raise ValueError("Expected a matrix or batch of matrices of shape %s. Got a tensor of shape %s." % (self.shape, q.shape))
        given, n, k = q, q.size(-2), q.size(-1)
        wide = n < k
        if wide:
            q, n, k = q.mT, k, n
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False.")
            a, tau = torch.geqrf(q)
            a.diagonal(dim1=-2, dim2=-1).sign_()
            a.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
            return a.mT if wide else a
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
        else:
            more = torch.randn(*(q.size()[:-2] + (n, n - k)), dtype=q.dtype, device=q.device)
            q = _made_orthogonal(torch.cat([q, more], dim=-1))
        self.base = q
        minus = torch.zeros_like(given)
        minus.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.TensorBase):
        raise ValueError("Module '%s' has no parameter or buffer with name '%s'" % (module, name))
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. Got a tensor of %d dimensions." % weight.ndim)
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: %s' % orthogonal_map)
    register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization), unsafe=True)
    return module


__getattr__ = attribute("torch.nn.utils.parametrizations")
