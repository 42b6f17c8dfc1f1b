"""Fit a Gaussian mixture by gradient descent with MixtureSameFamily and compare KL divergences."""
import torch
import torch.distributions as D

torch.manual_seed(17)

true = D.MixtureSameFamily(
    D.Categorical(torch.tensor([0.3, 0.7])),
    D.Normal(torch.tensor([-2.0, 1.5]), torch.tensor([0.5, 0.8])),
)
data = true.sample((500,))
print("data mean %.3f std %.3f" % (data.mean(), data.std()))

logits = torch.zeros(2, requires_grad=True)
mu = torch.tensor([-1.0, 1.0], requires_grad=True)
log_sigma = torch.zeros(2, requires_grad=True)
opt = torch.optim.Adam([logits, mu, log_sigma], lr=0.05)


def mixture():
    return D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(mu, log_sigma.exp()))


for it in range(151):
    nll = -mixture().log_prob(data).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if it % 50 == 0:
        print(f"it {it:3d} nll {nll.item():.4f}")

print("true nll %.4f" % -true.log_prob(data).mean())
print("weights", ["%.2f" % w for w in logits.softmax(0).tolist()])
print("means  ", ["%.2f" % m for m in mu.tolist()])
print("sigmas ", ["%.2f" % s for s in log_sigma.exp().tolist()])

# closed form KL against a Monte Carlo estimate
p, q = D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)
exact = D.kl_divergence(p, q)
s = p.sample((20000,))
mc = (p.log_prob(s) - q.log_prob(s)).mean()
print("kl exact %.4f, sampled close: %s" % (exact, bool((exact - mc).abs() < 0.02)))

# Beta posterior for coin flips
flips = D.Bernoulli(0.7).sample((40,))
post = D.Beta(1 + flips.sum(), 1 + (1 - flips).sum())
print("heads %d posterior mean %.3f var %.5f" % (flips.sum(), post.mean, post.variance))
mvn = D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 0.6], [0.6, 2.0]]))
print("mvn log prob at 0: %.4f entropy %.4f" % (mvn.log_prob(torch.zeros(2)), mvn.entropy()))
