"""Gaussian process regression with Cholesky factors and hyperparameters learned by L-BFGS."""
import math

import torch


class GP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.tensor(0.0))
        self.log_scale = torch.nn.Parameter(torch.tensor(0.0))
        self.log_noise = torch.nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        d2 = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").pow(2)
        return self.log_scale.exp() ** 2 * torch.exp(-0.5 * d2 / self.log_length.exp() ** 2)

    def factor(self, x):
        n = x.size(0)
        K = self.kernel(x, x) + (self.log_noise.exp() ** 2 + 1e-8) * torch.eye(n, dtype=x.dtype)
        return torch.linalg.cholesky(K)

    def nll(self, x, y):
        L = self.factor(x)
        alpha = torch.cholesky_solve(y, L)
        return (0.5 * (y * alpha).sum() + L.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)) / len(x)

    @torch.no_grad()
    def predict(self, x, y, xs):
        L = self.factor(x)
        Ks = self.kernel(x, xs)
        mean = Ks.T @ torch.cholesky_solve(y, L)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        cov = self.kernel(xs, xs) - v.T @ v
        return mean.squeeze(1), cov


torch.manual_seed(0)
x = torch.rand(30, 1, dtype=torch.double) * 8 - 4
y = torch.sin(1.3 * x) + 0.3 * x + 0.15 * torch.randn(30, 1, dtype=torch.double)
gp = GP().double()
opt = torch.optim.LBFGS(gp.parameters(), lr=0.5, max_iter=20, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = gp.nll(x, y)
    loss.backward()
    return loss


print("nll before %.3f" % gp.nll(x, y).item())
opt.step(closure)
print("nll after  %.3f" % gp.nll(x, y).item())
for name, p in gp.named_parameters():
    print(f"{name} -> {p.exp().item():.2f}")

xs = torch.linspace(-4, 4, 9, dtype=torch.double).unsqueeze(1)
mean, cov = gp.predict(x, y, xs)
std = cov.diagonal().clamp(min=0).sqrt()
truth = (torch.sin(1.3 * xs) + 0.3 * xs).squeeze(1)
for a, m, s, t in zip(xs.squeeze(1).tolist(), mean.tolist(), std.tolist(), truth.tolist()):
    print(f"x {a:5.1f}  mean {m:6.2f}  std {s:5.2f}  truth {t:6.2f}")

far = torch.tensor([[40.0]], dtype=torch.double)
m, c = gp.predict(x, y, far)
print("far away: mean %.2f std/scale %.2f" % (m.item(), (c.sqrt() / gp.log_scale.exp()).item()))
draws = torch.distributions.MultivariateNormal(mean, cov + 1e-6 * torch.eye(9, dtype=torch.double)).sample((3,))
print("posterior draws", tuple(draws.shape))
