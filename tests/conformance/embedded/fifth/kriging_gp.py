"""Kriging of soil moisture between probes: a Gaussian process with Cholesky factors and learned length scales."""
import math

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class GP(nn.Module):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.mean = x, y.mean()
        self.y = y - self.mean
        self.log_length = nn.Parameter(torch.zeros(2))        # one per direction
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))

    def kernel(self, a, b):
        """Matern 3/2"""
        d = torch.cdist(a / self.log_length.exp(), b / self.log_length.exp(), compute_mode="donot_use_mm_for_euclid_dist")
        d = math.sqrt(3) * d
        return self.log_scale.exp() * (1 + d) * torch.exp(-d)

    def factor(self):
        K = self.kernel(self.x, self.x) + self.log_noise.exp() * torch.eye(len(self.x))
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(self.y[:, None], L)[:, 0]
        return L, alpha

    def nll(self):
        L, alpha = self.factor()
        return 0.5 * self.y @ alpha + L.diagonal().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, xs):
        L, alpha = self.factor()
        Ks = self.kernel(xs, self.x)
        v = torch.linalg.solve_triangular(L, Ks.mT, upper=False)
        var = self.log_scale.exp() - (v ** 2).sum(0)
        return Ks @ alpha + self.mean, var.clamp(min=1e-9).sqrt()

    @torch.no_grad()
    def leave_one_out(self):
        """residuals without refitting, from the inverse of K"""
        L, alpha = self.factor()
        inv = torch.cholesky_inverse(L)
        return alpha / inv.diagonal(), (1 / inv.diagonal()).sqrt()


def moisture(p):
    return 25 + 4 * torch.sin(p[:, 0]) + 1.5 * torch.cos(0.4 * p[:, 1]) - p[:, 0] * p[:, 1] / 20


torch.manual_seed(70)
probes = torch.rand(45, 2) * 6
readings = moisture(probes) + 0.3 * torch.randn(45)
gp = GP(probes, readings)
opt = torch.optim.Adam(gp.parameters(), lr=0.1)
for it in range(61):
    opt.zero_grad()
    loss = gp.nll()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(f"{it:3d} negative log likelihood {loss.item():.3f}")
print("length scales east %.2f north %.2f" % tuple(gp.log_length.exp().tolist()))
print("signal std %.2f  noise std %.2f" % ((gp.log_scale / 2).exp(), (gp.log_noise / 2).exp()))

g = torch.linspace(0.5, 5.5, 6)
field = torch.cartesian_prod(g, g)
mean, std = gp.predict(field)
print("RMSE on the grid %.3f" % (mean - moisture(field)).square().mean().sqrt())
print("truth within 2 std: %.3f" % ((mean - moisture(field)).abs() < 2 * std).double().mean())
print("map of moisture (east down, north right):")
for row in mean.view(6, 6).tolist():
    print(" ".join(f"{v:6.2f}" for v in row))
res, s = gp.leave_one_out()
print("leave-one-out: RMSE %.3f, standardised residual std %.3f" % (res.square().mean().sqrt(), (res / s).std()))
print("next probe should go to", [round(v, 1) for v in field[std.argmax()].tolist()], "std %.3f" % std.max())
