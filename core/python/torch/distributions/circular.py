"""Distributions of angles, and of shares and tails with a case in which their formulas divide by zero."""
import math

import torch
from torch.nn import functional as F

from ..autograd.modes import no_grad
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import broadcast_all, clamp_probs, is_number, lazy_property, logits_to_probs, probs_to_logits

# Abramowitz and Stegun 9.8.1 to 9.8.4: polynomials for I0 and I1 below 3.75, and for both times sqrt(x) exp(-x) above.
_BELOW = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
          (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3))
_ABOVE = ((0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1, 0.392377e-2),
          (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1, -0.420059e-2))


def _polynomial(x, factors):
    out = factors[-1]
    for factor in factors[-2::-1]:
        out = factor + x * out
    return out


def _log_bessel(x, order):
    """The logarithm of a modified Bessel function of a positive number."""
    ratio = x / 3.75
    below = _polynomial(ratio * ratio, _BELOW[order])
    below = (x.abs() * below if order else below).log()
    inverse = 3.75 / x
    above = x - 0.5 * x.log() + _polynomial(inverse, _ABOVE[order]).log()
    return torch.where(x < 3.75, below, above)


class VonMises(Distribution):
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _parameters = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, torch.Size(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=self.__dict__.get("_validate_args"))

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        first = _log_bessel(self.concentration, 1)
        return 1 - (first - _log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value):
        self._check(value)
        return self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    # Draws are made in double.
    @lazy_property
    def _loc(self):
        return self.loc.to(torch.double)

    @lazy_property
    def _concentration(self):
        return self.concentration.to(torch.double)

    @lazy_property
    def _proposal_r(self):
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        usual = (1 + rho ** 2) / (2 * rho)
        series = 1 / kappa + kappa
        return torch.where(kappa < 1e-5, series, usual)

    def sample(self, sample_shape=torch.Size()):
        """By Best and Fisher's rejection."""
        with no_grad():
            x = torch.empty(self._extended_shape(sample_shape), dtype=self._loc.dtype, device=self.loc.device)
            loc, kappa, r = self._loc, self._concentration, self._proposal_r
            done = torch.zeros(x.shape, dtype=torch.bool, device=loc.device)
            while not done.all():
                u1, u2, u3 = torch.rand((3,) + x.shape, dtype=loc.dtype, device=loc.device).unbind()
                z = torch.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                taken = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                if taken.any():
                    x = torch.where(taken, (u3 - 0.5).sign() * f.acos(), x)
                    done = done | taken
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


class ContinuousBernoulli(ExponentialFamily):
    """Near a probability of 1/2 (between `lims`) its formulas are their Taylor series."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ("probs", "logits")

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
            self._param = self.probs
        else:
            (self.logits,) = broadcast_all(logits)
            self._param = self.logits
        self._lims = lims
        super().__init__(torch.Size() if is_number(given) else self._param.size(), validate_args=validate_args)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    param_shape = property(lambda self: self._param.size())
    stddev = property(lambda self: torch.sqrt(self.variance))

    def _away(self):
        return torch.max(torch.le(self.probs, self._lims[0]), torch.gt(self.probs, self._lims[1]))

    def _safe(self):
        return torch.where(self._away(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _log_norm(self):
        p = self._safe()
        below = torch.where(torch.le(p, 0.5), p, torch.zeros_like(p))
        above = torch.where(torch.ge(p, 0.5), p, torch.ones_like(p))
        usual = torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - torch.where(torch.le(p, 0.5), torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._away(), usual, series)

    @property
    def mean(self):
        p = self._safe()
        usual = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._away(), usual, series)

    @property
    def variance(self):
        p = self._safe()
        usual = p * (p - 1.0) / torch.pow(1.0 - 2.0 * p, 2) + 1.0 / torch.pow(torch.log1p(-p) - torch.log(p), 2)
        x = torch.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._away(), usual, series)

    def _uniform(self, sample_shape):
        return torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape=torch.Size()):
        u = self._uniform(sample_shape)
        with no_grad():
            return self.icdf(u)

    def rsample(self, sample_shape=torch.Size()):
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value):
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value):
        self._check(value)
        p = self._safe()
        usual = (torch.pow(p, value) * torch.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = torch.where(self._away(), usual, value)
        return torch.where(torch.le(value, 0.0), torch.zeros_like(value), torch.where(torch.ge(value, 1.0), torch.ones_like(value), inside))

    def icdf(self, value):
        p = self._safe()
        return torch.where(self._away(), (torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)) / (torch.log(p) - torch.log1p(-p)), value)

    def entropy(self):
        failure, success = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (failure - success) - self._log_norm() - failure

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x):
        away = torch.max(torch.le(x, self._lims[0] - 0.5), torch.gt(x, self._lims[1] - 0.5))
        safe = torch.where(away, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        usual = torch.log(torch.abs(torch.special.expm1(safe))) - torch.log(torch.abs(safe))
        return torch.where(away, usual, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)


class GeneralizedPareto(Distribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _parameters = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self._of_numbers(self.loc, loc, scale, concentration), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.loc, torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf))

    mode = property(lambda self: self.loc)

    @property
    def mean(self):
        valid = self.concentration < 1
        safe = torch.where(valid, self.concentration, 0.5)
        return torch.where(valid, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def variance(self):
        valid = self.concentration < 0.5
        safe = torch.where(valid, self.concentration, 0.25)
        return torch.where(valid, self.scale ** 2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def _cases(self, zero=None):
        """Whether it is an exponential distribution, and a concentration that can be divided by."""
        exponential = torch.isclose(self.concentration, torch.tensor(0.0) if zero is None else zero)
        return exponential, torch.where(exponential, torch.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=torch.Size()):
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        self._check(value)
        z = (value - self.loc) / self.scale
        exponential, safe = self._cases()
        y = 1 / safe + torch.ones_like(z)
        usual = torch.where(y == 0, y, y * torch.log1p(safe * z))
        return -self.scale.log() - torch.where(exponential, z, usual)

    def log_survival_function(self, value):
        self._check(value)
        z = (value - self.loc) / self.scale
        exponential, safe = self._cases()
        usual = -torch.log1p(safe * z) / safe
        return torch.where(exponential, -z, usual)

    def log_cdf(self, value):
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        exponential, safe = self._cases(torch.zeros_like(self.concentration))
        log_rest = torch.log1p(-value)
        usual = self.loc + self.scale / safe * torch.expm1(-safe * log_rest)
        return torch.where(exponential, self.loc - self.scale * log_rest, usual)

    def entropy(self):
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)
