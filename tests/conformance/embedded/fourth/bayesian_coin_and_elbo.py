"""Distributions: maximum likelihood for a Gamma, a conjugate coin, Metropolis sampling and a variational fit."""
import torch
import torch.distributions as D

torch.manual_seed(0)

# 1. maximum likelihood
true = D.Gamma(3.0, 2.0)
x = true.sample((2000,))
log_a = torch.zeros((), requires_grad=True)
log_b = torch.zeros((), requires_grad=True)
for _ in range(150):
    nll = -D.Gamma(log_a.exp(), log_b.exp()).log_prob(x).mean()
    ga, gb = torch.autograd.grad(nll, (log_a, log_b))
    with torch.no_grad():
        log_a -= 0.3 * ga
        log_b -= 0.3 * gb
print("gamma: concentration %.2f rate %.2f" % (log_a.exp().item(), log_b.exp().item()))

# 2. a coin with a Beta prior
flips = D.Bernoulli(0.7).sample((50,))
post = D.Beta(2 + flips.sum(), 2 + (1 - flips).sum())
print("posterior mean %.3f std %.3f" % (post.mean.item(), post.stddev.item()))

# 3. the same posterior by random walk Metropolis on the logit scale, many chains
to_unit = D.transforms.SigmoidTransform()


def log_target(u):
    p = to_unit(u)
    ll = D.Binomial(50, p).log_prob(flips.sum()) + D.Beta(2.0, 2.0).log_prob(p)
    return ll + to_unit.log_abs_det_jacobian(u, p)


u = torch.zeros(200)
lp = log_target(u)
draws, accepted = [], 0.0
for i in range(120):
    prop = u + 0.6 * torch.randn(200)
    lq = log_target(prop)
    ok = torch.rand(200).log() < lq - lp
    u, lp = torch.where(ok, prop, u), torch.where(ok, lq, lp)
    if i >= 40:
        draws.append(to_unit(u))
        accepted += ok.float().mean().item() / 80
draws = torch.stack(draws)
print("metropolis mean %.2f std %.2f acceptance %.2f" % (draws.mean(), draws.std(), accepted))

# 4. variational Bayes with the reparametrization trick
base_loc = torch.zeros((), requires_grad=True)
base_logs = torch.zeros((), requires_grad=True)
for step in range(150):
    q = D.Normal(base_loc, base_logs.exp())
    s = q.rsample((64,))
    elbo = (log_target(s) - q.log_prob(s)).mean()
    g = torch.autograd.grad(-elbo, (base_loc, base_logs))
    with torch.no_grad():
        base_loc -= 0.02 * g[0]
        base_logs -= 0.02 * g[1]
q = D.TransformedDistribution(D.Normal(base_loc.detach(), base_logs.detach().exp()), [to_unit])
s = q.sample((4000,))
print("variational mean %.2f std %.2f" % (s.mean(), s.std()))

# 5. divergences, mixtures, shapes
p, q = D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)
print("KL(p|q) %.4f entropy %.4f" % (D.kl_divergence(p, q), p.entropy()))
mix = D.MixtureSameFamily(D.Categorical(torch.tensor([0.3, 0.7])), D.Normal(torch.tensor([-2.0, 3.0]), torch.tensor([0.5, 1.0])))
print("mixture mean %.2f variance %.3f log_prob(0) %.3f" % (mix.mean, mix.variance, mix.log_prob(torch.tensor(0.0))))
ind = D.Independent(D.Laplace(torch.zeros(4, 3), torch.ones(4, 3)), 1)
print("batch", tuple(ind.batch_shape), "event", tuple(ind.event_shape), "cdf %.3f" % D.Laplace(0., 1.).cdf(torch.tensor(1.0)))
