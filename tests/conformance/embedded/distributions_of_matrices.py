"""Distributions of angles, shares, tails, correlations and covariances: what they draw, and what they say of it."""
import torch
from torch import distributions as D

torch.manual_seed(5)


def tell(d, draws=(2,), entropy=True):
    x = d.sample(draws)
    print(type(d).__name__, tuple(d.batch_shape), tuple(d.event_shape))
    print(x, d.log_prob(x))
    for name in ("mean", "variance", "mode"):
        try:
            print(name, getattr(d, name))
        except NotImplementedError as e:
            print(name, "not there")
    if entropy:
        print(d.entropy())


tell(D.VonMises(torch.tensor([0.5, -1.0]), torch.tensor([1.0, 6.0])), entropy=False)
tell(D.VonMises(torch.tensor(0.2), torch.tensor(2.0)).expand((2,)), entropy=False)
tell(D.ContinuousBernoulli(torch.tensor([0.2, 0.5, 0.9])))
tell(D.ContinuousBernoulli(logits=torch.tensor([0.7])))
print(D.ContinuousBernoulli(torch.tensor([0.2, 0.5])).cdf(torch.tensor(0.3)))
tell(D.GeneralizedPareto(torch.tensor([0.1, 0.0]), torch.tensor([2.0, 1.0]), torch.tensor([0.4, 0.0])))
factor, diagonal = torch.randn(3, 2), torch.rand(3) + 0.5
low = D.LowRankMultivariateNormal(torch.zeros(3), factor, diagonal)
tell(low)
print(low.covariance_matrix, low.precision_matrix, low.scale_tril)
print(low.expand((2,)).log_prob(torch.ones(3)))
tell(D.LKJCholesky(3, 0.5), entropy=False)
print(D.LKJCholesky(3, torch.tensor([1.0, 2.0])).expand((2, 2)).sample().shape)
w = D.Wishart(torch.tensor(4.0), covariance_matrix=torch.eye(2) + 0.5)
print(w.mean, w.mode, w.variance, w.entropy(), w.log_prob(torch.eye(2)))

# How draws follow their parameters.
loc, f, d = torch.zeros(3, requires_grad=True), factor.clone().requires_grad_(), diagonal.clone().requires_grad_()
D.LowRankMultivariateNormal(loc, f, d).rsample((4,)).pow(2).sum().backward()
print(loc.grad, f.grad, d.grad)
p = torch.tensor([0.3, 0.6], requires_grad=True)
D.ContinuousBernoulli(p).rsample((3,)).sum().backward()
print(p.grad)
print(D.Binomial(10, torch.tensor([0.2, 0.7])).sample((3,)))
for wrong in (lambda: D.LKJCholesky(1), lambda: D.LowRankMultivariateNormal(torch.zeros(3), torch.zeros(2, 2), torch.ones(3)), lambda: D.VonMises(torch.zeros(1), -torch.ones(1)),
              lambda: D.ContinuousBernoulli()):
    try:
        wrong()
    except ValueError as e:
        print(e)
