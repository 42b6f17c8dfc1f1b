"""Distributions: draws, log probabilities, moments, entropies, divergences, refusals; transformed, mixed and expanded ones."""
import torch
from torch import distributions as D
from torch.distributions import constraints, kl_divergence, transforms as T

t = torch.tensor
torch.manual_seed(12)
scale = t([1.0, 2.0], requires_grad=True)
some = [D.Normal(t([0.0, 1.0]), scale), D.Bernoulli(t([0.3, 0.6])), D.Bernoulli(logits=t([0.3, -0.6])), D.Categorical(t([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])),
        D.OneHotCategorical(logits=t([0.2, 0.3, 0.5])), D.Uniform(t([0.0, 1.0]), t([1.0, 3.0])), D.Exponential(t([1.0, 2.0])), D.Laplace(0.0, scale), D.Gumbel(t([0.0, 1.0]), 2.0),
        D.LogNormal(t([0.0, 1.0]), scale), D.HalfNormal(scale), D.Geometric(t([0.3, 0.6])), D.Pareto(t([1.0, 2.0]), t([2.0, 3.0])), D.Independent(D.Normal(torch.zeros(2), 1.0), 1),
        D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), D.Normal(t([0.0, 1.0]), scale)), D.RelaxedBernoulli(t(0.5), t([0.3, 0.6])),
        D.TransformedDistribution(D.Normal(t([0.0, 1.0]), 1.0), [T.AffineTransform(1, 2), T.SigmoidTransform()])]
for d in some:
    print(d, d.batch_shape, d.event_shape, d.support, d.has_rsample, d.expand((3,) + d.batch_shape).batch_shape)
    drawn = d.sample((2,))
    print(drawn, d.log_prob(drawn))
    for name in ("mean", "variance", "mode", "entropy"):
        try:
            value = getattr(d, name)
            print(name, value() if callable(value) else value)
        except NotImplementedError:
            print(name, "is not there")
d = some[0]
(d.rsample((3,)).pow(2).sum() + d.entropy().sum() + kl_divergence(d, D.Normal(0.0, 1.0)).sum()).backward()
print(scale.grad)
for p, q in ((some[1], some[2]), (some[3], D.Categorical(logits=torch.zeros(3))), (some[5], D.Uniform(-1.0, 4.0)), (some[6], D.Exponential(3.0)), (some[13], some[13])):
    print(kl_divergence(p, q))
print(some[3].enumerate_support(), some[1].enumerate_support(expand=False), constraints.positive, T.ExpTransform().inv, T.AffineTransform(1, 2).log_abs_det_jacobian(t(1.0), t(3.0)))
for wrong in (lambda: D.Normal(0.0, -1.0), lambda: some[5].log_prob(t(-7.5)), lambda: D.Categorical(torch.ones(())), lambda: some[1].rsample()):
    try:
        wrong()
    except (ValueError, NotImplementedError) as e:
        print(type(e).__name__, e)
