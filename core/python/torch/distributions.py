"""Distributions, as far as the operators reach: drawing, log probabilities, entropies."""
import math

from . import _C
from ._missing import attribute, missing
from .autograd.modes import enable_grad, no_grad
from .nn import functional as F

_V = _C._VariableFunctions


def _broadcast(*values):
    options = {"dtype": _C.get_default_dtype()}
    for v in values:
        if isinstance(v, _C.TensorBase):
            options = {"dtype": v.dtype, "device": v.device}
            break
    return _V.broadcast_tensors([v if isinstance(v, _C.TensorBase) else _C.tensor(v, **options) for v in values])


def _clamped(probs):
    from . import finfo
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class _lazy:
    """Computed when first read, with gradients."""

    def __init__(self, compute):
        self.compute, self.name = compute, compute.__name__

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        with enable_grad():
            value = self.compute(owner)
        setattr(owner, self.name, value)
        return value


# What arguments and values have to fulfil: (in words, a tensor of bools).
_real = ("Real()", lambda v: v == v)
_positive = ("GreaterThan(lower_bound=0.0)", lambda v: v > 0.0)
_unit = ("Interval(lower_bound=0.0, upper_bound=1.0)", lambda v: (v >= 0.0) & (v <= 1.0))
_bool = ("Boolean()", lambda v: (v == 0) | (v == 1))
_simplex = ("Simplex()", lambda v: _V.all(v >= 0, dim=-1) & ((v.sum(-1) - 1).abs() < 1e-6))


def _check_vector(v):
    fits = v == v
    return fits.reshape(fits.shape[:-1] + (-1,)).all(-1)


_real_vector = ("IndependentConstraint(Real(), 1)", _check_vector)


class Distribution:
    arg_constraints = {}
    support = None
    has_rsample = False
    _validate_args = __debug__

    def __init__(self, batch_shape=(), validate_args=None):
        from . import Size
        self._batch_shape = Size(batch_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, (words, check) in self.arg_constraints.items():
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), _lazy):
                continue
            value = getattr(self, name)
            if not check(value).all():
                raise ValueError("Expected parameter %s (%s of shape %s) of distribution %r to satisfy the constraint %s, but found invalid values:\n%s"
                                 % (name, type(value).__name__, tuple(value.shape), self, words, value))

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        from . import Size
        return Size()

    def _shape(self, sample_shape=()):
        from . import Size
        return Size(tuple(sample_shape) + tuple(self._batch_shape))

    def _check(self, value):
        if not self._validate_args:
            return
        words, check = self.support
        if not check(value).all():
            raise ValueError("Expected value argument (%s of shape %s) to be within the support (%s) of the distribution %r, but found invalid values:\n%s"
                             % (type(value).__name__, tuple(value.shape), words, self, value))

    def sample(self, sample_shape=()):
        with no_grad():
            return self.rsample(sample_shape)

    @property
    def stddev(self):
        return self.variance.sqrt()

    def __repr__(self):
        held = [(n, self.__dict__[n]) for n in self.arg_constraints if n in self.__dict__]
        return "%s(%s)" % (type(self).__name__, ", ".join("%s: %s" % (n, v if v.numel() == 1 else v.size()) for n, v in held))


class Normal(Distribution):
    arg_constraints = {"loc": _real, "scale": _positive}
    support = _real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _broadcast(loc, scale)
        numbers = not isinstance(loc, _C.TensorBase) and not isinstance(scale, _C.TensorBase)
        super().__init__(() if numbers else self.loc.size(), validate_args)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape=()):
        shape = self._shape(sample_shape)
        with no_grad():
            return _V.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        noise = _V.empty(self._shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + noise * self.scale

    def log_prob(self, value):
        self._check(value)
        variance = self.scale ** 2
        log_scale = self.scale.log()
        return -((value - self.loc) ** 2) / (2 * variance) - log_scale - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        self._check(value)
        return 0.5 * (1 + _V.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + _V.log(self.scale)


class Categorical(Distribution):
    arg_constraints = {"probs": _simplex, "logits": _real_vector}

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.probs if probs is not None else self.logits
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1] if self._param.dim() > 1 else (), validate_args)

    @_lazy
    def logits(self):
        return _V.log(_clamped(self.probs))

    @_lazy
    def probs(self):
        return F.softmax(self.logits, dim=-1)

    @property
    def support(self):
        top = self._num_events - 1
        return "IntegerInterval(lower_bound=0, upper_bound=%d)" % top, lambda v: (v % 1 == 0) & (v >= 0) & (v <= top)

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=()):
        flat = self.probs.reshape(-1, self._num_events)
        drawn = _V.multinomial(flat, math.prod(sample_shape), True).T
        return drawn.reshape(self._shape(sample_shape))

    def log_prob(self, value):
        self._check(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = _V.broadcast_tensors([value, self.logits])
        value = value[..., :1]
        return log_pmf.gather(-1, value).squeeze(-1)

    def entropy(self):
        from . import finfo
        logits = _V.clamp(self.logits, min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class Bernoulli(Distribution):
    arg_constraints = {"probs": _unit, "logits": _real}
    support = _bool

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if probs is not None else logits
        number = not isinstance(given, _C.TensorBase)
        (self._param,) = _broadcast(given)
        setattr(self, "probs" if probs is not None else "logits", self._param)
        super().__init__(() if number else self._param.size(), validate_args)

    @_lazy
    def logits(self):
        probs = _clamped(self.probs)
        return _V.log(probs) - _V.log1p(-probs)

    @_lazy
    def probs(self):
        return _V.sigmoid(self.logits)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with no_grad():
            return _V.bernoulli(self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value):
        self._check(value)
        logits, value = _broadcast(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


def kl_divergence(p, q):
    if type(p) is not Normal or type(q) is not Normal:
        missing("torch.distributions.kl_divergence of %s and %s" % (type(p).__name__, type(q).__name__))
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - ratio.log())


__getattr__ = attribute("torch.distributions")
