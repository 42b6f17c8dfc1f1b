"""Fits a Poisson regression of owl calls per survey, with an effort offset, by LBFGS and gives standard errors."""
import torch
import torch.nn.functional as F

torch.manual_seed(31)
torch.set_default_dtype(torch.float64)

# survey sheet (simulated): forest cover, moon phase, distance to road; minutes listened
n = 200
forest = torch.rand(n)
moon = torch.rand(n)
road = torch.distributions.Exponential(1.0).sample((n,))
minutes = torch.randint(5, 31, (n,)).double()

X = torch.stack([torch.ones(n), forest, moon, road], dim=1)
true_beta = torch.tensor([-2.0, 1.5, -0.6, 0.2])
rate = torch.exp(X @ true_beta) * minutes
counts = torch.poisson(rate)
print("total calls:", int(counts.sum()), " surveys without any:", int((counts == 0).sum()))

beta = torch.zeros(4, requires_grad=True)
offset = minutes.log()


def nll(b):
    # log link: input is the log rate
    return F.poisson_nll_loss(X @ b + offset, counts, log_input=True, full=True, reduction="sum")


opt = torch.optim.LBFGS([beta], lr=1, max_iter=60, tolerance_grad=1e-9, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = nll(beta)
    loss.backward()
    return loss


start = opt.step(closure)
print("nll at start %.4f, at the end %.4f" % (start.item(), nll(beta).item()))

# observed information -> standard errors
H = torch.autograd.functional.hessian(nll, beta.detach())
cov = torch.linalg.inv(H)
se = cov.diagonal().sqrt()

print("%-10s %9s %9s %9s %9s" % ("term", "truth", "estimate", "se", "z"))
for name, t, b, s in zip(["intercept", "forest", "moon", "road"], true_beta, beta.detach(), se):
    print("%-10s %9.3f %9.3f %9.3f %9.2f" % (name, t, b, s, b / s))

# overdispersion check
mu = torch.exp(X @ beta.detach() + offset)
pearson = ((counts - mu) ** 2 / mu).sum() / (n - 4)
print("Pearson dispersion: %.3f" % pearson)
