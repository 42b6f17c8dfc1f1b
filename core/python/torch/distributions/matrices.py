"""Distributions of and by matrices: normal ones whose covariance has a low rank beside its diagonal, Wishart's, correlations."""
import math
import warnings

import torch

from . import constraints
from .continuous import Chi2
from .distribution import Distribution, ExponentialFamily
from .multivariate import Beta, _factor_of_precision, _times, mahalanobis
from .utils import broadcast_all, is_number, lazy_property, standard_normal


def _plus_identity(matrix):
    n = matrix.size(-1)
    matrix.view(-1, n * n)[:, ::n + 1] += 1
    return matrix


def _log_diagonal(lower):
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class LowRankMultivariateNormal(Distribution):
    """What is solved is of the rank's size: by Woodbury's identity, with the factor of 1 + W^T D^-1 W."""
    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2), "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError("cov_factor must be a batch of matrices with shape %d x m" % event_shape[0])
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError("cov_diag must be a batch of vectors with shape %s" % (event_shape,))
        columns = loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
        try:
            of_loc, self.cov_factor, of_diag = torch.broadcast_tensors(*columns)
        except RuntimeError as e:
            raise ValueError("Incompatible batch shapes: loc %s, cov_factor %s, cov_diag %s" % (loc.shape, cov_factor.shape, cov_diag.shape)) from e
        self.loc, self.cov_diag = of_loc[..., 0], of_diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._capacitance_tril = torch.linalg.cholesky(_plus_identity(torch.matmul(scaled, cov_factor).contiguous()))
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = object.__new__(type(self)) if _instance is None else _instance
        batch_shape = torch.Size(batch_shape)
        shape = batch_shape + self.event_shape
        new.loc, new.cov_diag = self.loc.expand(shape), self.cov_diag.expand(shape)
        new.cov_factor = self.cov_factor.expand(shape + self.cov_factor.shape[-1:])
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, self.__dict__[name])
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        return (self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        return self._whole(root * torch.linalg.cholesky(_plus_identity(torch.matmul(scaled, scaled.mT).contiguous())))

    @lazy_property
    def covariance_matrix(self):
        return self._whole(torch.matmul(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self):
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        half = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._whole(torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        of_diag = standard_normal(shape, self.loc)
        return self.loc + _times(self._unbroadcasted_cov_factor, of_factor) + self._unbroadcasted_cov_diag.sqrt() * of_diag

    def _log_det(self):
        return 2 * _log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value):
        self._check(value)
        away = value - self.loc
        turned = _times(self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2), away)
        by_diag = (away.pow(2) / self._unbroadcasted_cov_diag).sum(-1)
        length = by_diag - mahalanobis(self._capacitance_tril, turned)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + length)

    def entropy(self):
        result = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return result.expand(self._batch_shape) if self._batch_shape else result


class LKJCholesky(Distribution):
    """Factors of correlation matrices; draws by the onion method, row by row."""
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. Found dim=%s." % dim)
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        first = offset + 0.5
        self._beta = Beta(first, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = object.__new__(type(self)) if _instance is None else _instance
        batch_shape = torch.Size(batch_shape)
        new.dim, new.concentration = self.dim, self.concentration.expand(batch_shape)
        new._beta = self._beta.expand(batch_shape + (self.dim,))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=torch.Size()):
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        rows = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
        rows = rows / rows.norm(dim=-1, keepdim=True)
        rows[..., 0, :].fill_(0.0)
        out = torch.sqrt(y) * rows
        rest = torch.clamp(1 - torch.sum(out ** 2, dim=-1), min=torch.finfo(out.dtype).tiny).sqrt()
        out += torch.diag_embed(rest)
        return out

    def log_prob(self, value):
        self._check(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        density = torch.sum(order * diagonal.log(), dim=-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        below = torch.lgamma(alpha) * less
        above = torch.mvlgamma(alpha - 0.5, less)
        return density - (0.5 * less * math.log(math.pi) + above - below)


class Wishart(ExponentialFamily):
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {n: m for n, m in (("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix), ("scale_tril", scale_tril)) if m is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if is_number(df):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError("Value of df=%s expected to be greater than ndim - 1 = %d." % (df, event_shape[-1] - 1))
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else torch.linalg.cholesky(matrix) if name == "covariance_matrix" else _factor_of_precision(matrix)
        self._set_draws(batch_shape)

    def _set_draws(self, batch_shape):
        factor = self._unbroadcasted_scale_tril
        self._batch_dims = [-(x + 1) for x in range(len(batch_shape))]
        df = self.df.unsqueeze(-1)
        self._dist_chi2 = Chi2(df=df - torch.arange(factor.size(-1), dtype=factor.dtype, device=factor.device).expand(tuple(batch_shape) + (-1,)))

    def expand(self, batch_shape, _instance=None):
        new = object.__new__(type(self)) if _instance is None else _instance
        batch_shape = torch.Size(batch_shape)
        shape = batch_shape + self.event_shape
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(shape)
        new.df = self.df.expand(batch_shape)
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(shape))
        new._set_draws(batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.transpose(-2, -1))

    @lazy_property
    def precision_matrix(self):
        factor = self._unbroadcasted_scale_tril
        one = torch.eye(self._event_shape[-1], device=factor.device, dtype=factor.dtype)
        return self._whole(torch.cholesky_solve(one, factor))

    def _column(self, t):
        return t.view(self._batch_shape + (1, 1))

    @property
    def mean(self):
        return self._column(self.df) * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return self._column(factor) * self.covariance_matrix

    @property
    def variance(self):
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        return self._column(self.df) * (V.pow(2) + torch.einsum("...i,...j->...ij", diagonal, diagonal))

    def _draw(self, sample_shape):
        """By Bartlett's decomposition."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=torch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        noise[..., i, j] = torch.randn(torch.Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,), dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def _over_batch(self, flags):
        return flags.amax(self._batch_dims) if self._batch_shape else flags

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):
        sample = self._draw(torch.Size(sample_shape))
        # Stock 2.13 draws again what is positive definite, not what is singular, and warns.
        again = self._over_batch(self.support.check(sample))
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                new = self._draw(again[again].shape)
                sample[again] = new
                still = self._over_batch(~self.support.check(new))
                again[again.clone()] = still
                if not again.any():
                    break
        return sample

    def _log_scale(self):
        return self._event_shape[-1] * math.log(2) / 2 + _log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value):
        self._check(value)
        nu, p = self.df, self._event_shape[-1]
        density = -nu * self._log_scale() - torch.mvlgamma(nu / 2, p=p) + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
        return density - torch.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        known = (p + 1) * self._log_scale() + torch.mvlgamma(nu / 2, p=p)
        weight, half = (nu - p - 1) / 2, nu / 2
        if not half.gt((p - 1) / 2).all():
            raise AssertionError("Wrong domain for multivariate digamma function.")
        one_by_one = half.unsqueeze(-1) - torch.arange(p, dtype=half.dtype, device=half.device).div(2).expand(half.shape + (-1,))
        return known - weight * torch.digamma(one_by_one).sum(-1) + nu * p / 2

    @property
    def _natural_params(self):
        p = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - p - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + torch.mvlgamma(y + (p + 1) / 2, p=p)
