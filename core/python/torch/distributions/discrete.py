"""Distributions of whole numbers and of kinds."""
import math

import torch
from torch.nn import functional as F

from ..autograd.modes import no_grad
from . import constraints
from .continuous import Binary, Gamma
from .distribution import Distribution, ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits


def _listed(values, expand, batch_shape):
    """Every value that there is, for each element of a batch."""
    values = values.view((-1,) + (1,) * len(batch_shape))
    return values.expand((-1,) + tuple(batch_shape)) if expand else values


class Bernoulli(Binary, ExponentialFamily):
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        super().__init__(self._of_numbers(self._param, given), validate_args=validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        return _listed(torch.arange(2, dtype=self._param.dtype, device=self._param.device), expand, self._batch_shape)


class Geometric(Binary, Distribution):
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        super().__init__(self._of_numbers(self._param, given), validate_args=validate_args)
        if self._validate_args and probs is not None:
            valid = self.probs > 0
            if not valid.all():
                raise ValueError("Expected parameter probs (%s of shape %s) of distribution %r to be positive but found invalid values:\n%s"
                                 % (type(self.probs).__name__, tuple(self.probs.shape), self, format(self.probs.data[~valid])))

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: torch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = self.probs.new(shape).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


def _clamp_by_zero(x):
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class _Counted(Binary, Distribution):
    """With a number of trials beside the probability."""
    _parameters = ("total_count", "probs", "logits")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name = "logits" if probs is None else "probs"
        self.total_count, self._param = broadcast_all(total_count, logits if probs is None else probs)
        setattr(self, name, self._param)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)


class Binomial(_Counted):
    arg_constraints = {"total_count": constraints.nonnegative_integer, **Binary.arg_constraints}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args)

    support = constraints.dependent_property(lambda self: constraints.integer_interval(0, self.total_count), is_discrete=True, event_dim=0)
    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        self._check(value)
        of_all = torch.lgamma(self.total_count + 1)
        of_value = torch.lgamma(value + 1)
        of_rest = torch.lgamma(self.total_count - value + 1)
        normalizer = self.total_count * _clamp_by_zero(self.logits) + self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits))) - of_all
        return value * self.logits - of_value - of_rest - normalizer

    def _one_count(self, what):
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError("Inhomogeneous total count not supported by `%s`." % what)
        return count

    def entropy(self):
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = self._one_count("enumerate_support")
        return _listed(torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand, self._batch_shape)


class NegativeBinomial(_Counted):
    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support = constraints.nonnegative_integer

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=torch.Size()):
        with no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        self._check(value)
        unnormalized = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        normalizer = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        return unnormalized - normalizer.masked_fill(self.total_count + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _parameters = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self._of_numbers(self.rate, rate), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.poisson(self.rate.expand(shape))

    def log_prob(self, value):
        self._check(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    _natural_params = property(lambda self: (torch.log(self.rate),))

    def _log_normalizer(self, x):
        return torch.exp(x)


class Categorical(Distribution):
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given, name = (logits, "logits") if probs is None else (probs, "probs")
        if given.dim() < 1:
            raise ValueError("`%s` parameter must be at least one-dimensional." % name)
        self._param = given / given.sum(-1, keepdim=True) if name == "probs" else given - given.logsumexp(dim=-1, keepdim=True)
        setattr(self, name, self._param)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1] if self._param.dim() > 1 else torch.Size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = object.__new__(type(self)) if _instance is None else _instance
        batch_shape = torch.Size(batch_shape)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                new._param = self.__dict__[name].expand(batch_shape + (self._num_events,))
                setattr(new, name, new._param)
        new._num_events = self._num_events
        Distribution.__init__(new, batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    support = constraints.dependent_property(lambda self: constraints.integer_interval(0, self._num_events - 1), is_discrete=True, event_dim=0)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    param_shape = property(lambda self: self._param.size())
    mean = variance = property(lambda self: self._filled(math.nan, self.probs))
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=torch.Size()):
        flat = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(flat, math.prod(sample_shape), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._check(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        value = value[..., :1]
        return log_pmf.gather(-1, value).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return _listed(torch.arange(self._num_events, dtype=torch.long, device=self._param.device), expand, self._batch_shape)


class _OfCategorical(Distribution):
    """Values are vectors over a categorical distribution's kinds."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _parameters = ("_categorical",)

    def _begin(self, validate_args):
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    _param = property(lambda self: self._categorical._param)


class OneHotCategorical(_OfCategorical):
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self._begin(validate_args)

    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    @property
    def mode(self):
        probs = self._categorical.probs
        return F.one_hot(probs.argmax(dim=-1), num_classes=probs.shape[-1]).to(probs)

    def sample(self, sample_shape=torch.Size()):
        probs = self._categorical.probs
        return F.one_hot(self._categorical.sample(torch.Size(sample_shape)), self._categorical._num_events).to(probs)

    def log_prob(self, value):
        self._check(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n, batch = self.event_shape[0], tuple(self.batch_shape)
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device).view((n,) + (1,) * len(batch) + (n,))
        return values.expand((n,) + batch + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        samples = self.sample(sample_shape)
        probs = self._categorical.probs
        return samples + (probs - probs.detach())


class ExpRelaxedCategorical(_OfCategorical):
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        self._begin(validate_args)

    def rsample(self, sample_shape=torch.Size()):
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype, device=self.logits.device))
        gumbels = -(-(u.log())).log()
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        kinds = self._categorical._num_events
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(self.temperature, float(kinds)).lgamma() - self.temperature.log().mul(-(kinds - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class Multinomial(_OfCategorical):
    _parameters = ("_categorical", "_binomial")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count, self._categorical = total_count, Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        self._begin(validate_args)

    support = constraints.dependent_property(lambda self: constraints.multinomial(self.total_count), is_discrete=True, event_dim=1)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        samples = self._categorical.sample(torch.Size((self.total_count,) + tuple(sample_shape)))
        samples = samples.permute(*range(1, samples.dim()), 0)
        counts = samples.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, samples, torch.ones_like(samples))
        return counts.type_as(self.probs)

    def log_prob(self, value):
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        of_all = torch.lgamma(value.sum(-1) + 1)
        of_each = torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -math.inf)] = 0
        return of_all - of_each + (logits * value).sum(-1)

    def entropy(self):
        n = torch.tensor(self.total_count)
        first = n * self._categorical.entropy() - torch.lgamma(n + 1)
        support = self._binomial.enumerate_support(expand=False)[1:]
        probs = torch.exp(self._binomial.log_prob(support))
        return first + (probs * torch.lgamma(support + 1)).sum([0, -1])
