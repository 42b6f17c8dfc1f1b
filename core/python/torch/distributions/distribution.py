"""The base of all distributions."""
import torch

from .. import _C
from .._missing import attribute
from ..autograd.modes import no_grad
from . import constraints
from .utils import is_number, lazy_property


_all_true = _C._VariableFunctions._is_all_true


class Distribution:
    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _parameters = ()  # what `expand` expands to the shape of the batch
    _event_parameters = ()  # and to those of batch and event

    @staticmethod
    def set_default_validate_args(value):
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name, constraint in self.arg_constraints.items() if self._validate_args else ():
            if constraints.is_dependent(constraint) or (name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property)):
                continue
            value = getattr(self, name)
            if not _all_true(constraint.check(value)):
                raise ValueError("Expected parameter %s (%s of shape %s) of distribution %r to satisfy the constraint %r, but found invalid values:\n%s"
                                 % (name, type(value).__name__, tuple(value.shape), self, constraint, format(value)))

    def _of_numbers(self, first, *given):
        """The batch's shape, where parameters may be numbers."""
        return torch.Size() if all(is_number(g) for g in given) else first.size()

    def expand(self, batch_shape, _instance=None):
        batch_shape = torch.Size(batch_shape)
        new = object.__new__(type(self)) if _instance is None else _instance
        for names, event in ((self._parameters, ()), (self._event_parameters, self._event_shape)):
            for name in names:
                if name in self.__dict__:
                    held = self.__dict__[name]
                    setattr(new, name, held.expand(batch_shape if isinstance(held, Distribution) else batch_shape + tuple(event)))
        if "_param" in self.__dict__:
            new._param = new.probs if "probs" in new.__dict__ else new.logits
        for name, value in self.__dict__.items():
            if name not in new.__dict__ and not isinstance(value, (_C.TensorBase, Distribution)):
                new.__dict__[name] = value
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    batch_shape = property(lambda self: self._batch_shape)
    event_shape = property(lambda self: self._event_shape)

    def _lacking(self, *args, **kwargs):
        raise NotImplementedError

    arg_constraints = support = mean = variance = property(_lacking)
    rsample = log_prob = cdf = icdf = enumerate_support = entropy = _lacking

    @property
    def mode(self):
        raise NotImplementedError("%s does not implement mode" % type(self))

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        return self.sample(torch.Size((n,)))

    def perplexity(self):
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + self._batch_shape + self._event_shape)

    def _filled(self, value, like):
        return torch.full(self._extended_shape(), value, dtype=like.dtype, device=like.device)

    def _check(self, value):
        """Of a value that a method is given."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value):
        if not isinstance(value, _C.TensorBase):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = len(value.size()) - len(self._event_shape)
        if value.size()[start:] != self._event_shape:
            raise ValueError("The right-most size of value must match event_shape: %s vs %s." % (value.size(), self._event_shape))
        expected = torch.Size(self._batch_shape + self._event_shape)
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(value.size()), reversed(expected))):
            raise ValueError("Value is not broadcastable with batch_shape+event_shape: %s vs %s." % (value.size(), expected))
        support = self.support
        if not _all_true(support.check(value)):
            raise ValueError("Expected value argument (%s of shape %s) to be within the support (%r) of the distribution %r, but found invalid values:\n%s"
                             % (type(value).__name__, tuple(value.shape), support, self, format(value)))

    def __repr__(self):
        held = [(n, self.__dict__[n]) for n in self.arg_constraints if n in self.__dict__]
        return "%s(%s)" % (type(self).__name__, ", ".join("%s: %s" % (n, format(v) if v.numel() == 1 else v.size()) for n, v in held))


class ExponentialFamily(Distribution):
    """Entropies by the gradient of the normalizer."""

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        result = -self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        gradients = torch.autograd.grad(normalizer.sum(), natural, create_graph=True)
        result += normalizer
        for p, g in zip(natural, gradients):
            result -= (p * g).reshape(self._batch_shape + (-1,)).sum(-1)
        return result


__getattr__ = attribute("torch.distributions.distribution")
