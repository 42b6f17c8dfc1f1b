# Gaussian mixture: EM by hand, the same density from torch.distributions, and a tour of other distributions.
import math
import torch
import torch.distributions as D

torch.manual_seed(66)
true = D.MixtureSameFamily(
    D.Categorical(torch.tensor([0.5, 0.3, 0.2])),
    D.MultivariateNormal(torch.tensor([[0., 0.], [4., 1.], [-3., 3.]]),
                         torch.diag_embed(torch.tensor([[1.0, 0.5], [0.4, 0.8], [0.6, 0.6]]))))
X = true.sample((60,))
print("sample", tuple(X.shape), "mean", X.mean(0), "true mean", true.mean)


def log_gauss(X, mu, cov):
    L = torch.linalg.cholesky(cov)                                   # K,d,d
    diff = X[None] - mu[:, None]                                     # K,N,d
    z = torch.linalg.solve_triangular(L, diff.mT, upper=False)       # K,d,N
    logdet = L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return (-0.5 * z.pow(2).sum(1) - logdet[:, None] - 0.5 * X.shape[1] * math.log(2 * math.pi)).T


K = 3
mu = X[torch.randperm(60)[:K]].clone()
cov = torch.cov(X.T).expand(K, 2, 2).clone()
pi = torch.full((K,), 1 / K)
prev = -math.inf
for it in range(25):
    logp = log_gauss(X, mu, cov) + pi.log()
    ll = torch.logsumexp(logp, dim=1, keepdim=True)
    resp = (logp - ll).exp()
    Nk = resp.sum(0)
    pi = Nk / len(X)
    mu = (resp.T @ X) / Nk[:, None]
    diff = X[:, None] - mu
    cov = torch.einsum("nk,nki,nkj->kij", resp, diff, diff) / Nk[:, None, None] + 1e-4 * torch.eye(2)
    cur = ll.mean().item()
    if it % 5 == 0:
        print(f"iter {it:2d} mean log-lik {cur:.4f}")
    assert cur >= prev - 1e-3
    prev = cur

order = mu[:, 0].argsort()
print("weights:", pi[order])
print("means:\n", mu[order])
fit = D.MixtureSameFamily(D.Categorical(pi), D.MultivariateNormal(mu, cov))
print("fit ll %.4f true ll %.4f" % (fit.log_prob(X).mean(), true.log_prob(X).mean()))
print("hard counts:", torch.bincount(resp.argmax(1), minlength=K)[order].tolist())

# other distributions
print("entropies: %.4f %.4f %.4f" % (D.Normal(0., 2.).entropy(), D.Bernoulli(0.3).entropy(), D.Uniform(0., 3.).entropy()))
for d, v in [(D.Poisson(3.0), 2.0), (D.Exponential(0.5), 1.0), (D.Gamma(2.0, 1.0), 1.5), (D.Beta(2.0, 3.0), 0.4),
             (D.Laplace(0.0, 1.0), -1.0), (D.StudentT(4.0), 0.7), (D.Geometric(0.25), 3.0), (D.Binomial(5, torch.tensor(0.4)), 2.0)]:
    print(f"{type(d).__name__:<12} log_prob({v}) = {d.log_prob(torch.tensor(v)).item():.4f} mean {float(d.mean):.3f}")
print("KL: %.4f" % D.kl_divergence(D.Normal(0., 1.), D.Normal(1., 2.)))
print("KL cat: %.4f" % D.kl_divergence(D.Categorical(torch.tensor([.5, .5])), D.Categorical(torch.tensor([.9, .1]))))
ln = D.TransformedDistribution(D.Normal(0., .5), [D.transforms.ExpTransform()])
print("lognormal: %.4f" % ln.log_prob(torch.tensor(1.3)))
print("dirichlet sums:", torch.allclose(D.Dirichlet(torch.ones(4)).sample((3,)).sum(-1), torch.ones(3)))
print("cdf/icdf: %.4f %.4f" % (D.Normal(0., 1.).cdf(torch.tensor(1.96)), D.Normal(0., 1.).icdf(torch.tensor(0.975))))
print("gumbel-softmax hard:", torch.nn.functional.gumbel_softmax(torch.zeros(2, 3), hard=True).sum(-1))
print("multinomial total:", D.Multinomial(10, torch.ones(4)).sample().sum().item())
