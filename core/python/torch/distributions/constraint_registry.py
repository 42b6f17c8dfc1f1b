"""Which transform leads from all real numbers to those that fulfil a constraint: `biject_to` one that can be undone, `transform_to` perhaps a cheaper one."""
from . import constraints, transforms as t
from .._missing import attribute
from .utils import is_number


class ConstraintRegistry:
    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Without a factory: a decorator of it."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, but got %s" % (constraint,))
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        if type(constraint) not in self._registry:
            raise NotImplementedError("Cannot transform %s constraints" % type(constraint).__name__)
        return self._registry[type(constraint)](constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _both(*kinds):
    def register(factory):
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory
    return register


@_both(constraints.real)
def _real(constraint):
    return t.identity_transform


@_both(constraints.positive, constraints.nonnegative)
def _above(constraint):
    return t.ComposeTransform([t.ExpTransform(), t.AffineTransform(constraint.lower_bound, 1)])


@_both(constraints.less_than)
def _below(constraint):
    return t.ComposeTransform([t.ExpTransform(), t.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if is_number(low) and low == 0 and is_number(high) and high == 1:
        return t.SigmoidTransform()
    return t.ComposeTransform([t.SigmoidTransform(), t.AffineTransform(low, high - low)])


def _of_parts(registry):
    return lambda constraint: t.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


for _registry in (biject_to, transform_to):
    _registry.register(constraints.independent, _of_parts(_registry))
biject_to.register(constraints.simplex, lambda constraint: t.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: t.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: t.LowerCholeskyTransform())

__getattr__ = attribute("torch.distributions.constraint_registry")
