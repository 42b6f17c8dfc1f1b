# From all real numbers to those that fulfil a constraint.
import torch
from torch.distributions import CumulativeDistributionTransform, Normal, biject_to, constraints, transform_to

x = torch.tensor([[0.5, -1.0, 0.25], [0.1, 0.3, 2.0]], requires_grad=True)
kinds = (constraints.real, constraints.positive, constraints.greater_than_eq(2.0), constraints.less_than(3.0), constraints.unit_interval, constraints.interval(-1.0, 2.0),
         constraints.simplex, constraints.independent(constraints.positive, 1))
for registry in (biject_to, transform_to):
    for kind in kinds:
        change = registry(kind)
        y = change(x)
        print(change, kind, kind.check(y).all(), torch.autograd.grad(y.sin().sum(), x)[0].square().sum())
try:
    biject_to(constraints.boolean)
except NotImplementedError as e:
    print(e)
normal = Normal(torch.tensor(1.0), torch.tensor(2.0))
change = CumulativeDistributionTransform(normal)
print(change(x), change.inv(change(x)), change.log_abs_det_jacobian(x, None), change.domain, change.codomain, change.sign)
