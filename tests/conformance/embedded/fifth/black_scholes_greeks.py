"""Computes option Greeks by automatic differentiation, checks them against formulas and Monte Carlo, and inverts the price for implied volatility."""
import torch
from torch.distributions import Normal

torch.manual_seed(1973)
torch.set_default_dtype(torch.float64)
N = Normal(0.0, 1.0)


def call_price(S, K, T, r, sigma):
    sq = sigma * T.sqrt()
    d1 = (torch.log(S / K) + (r + 0.5 * sigma ** 2) * T) / sq
    return S * N.cdf(d1) - K * torch.exp(-r * T) * N.cdf(d1 - sq)


def greeks(S, K, T, r, sigma):
    price = call_price(S, K, T, r, sigma)
    delta, vega, theta, rho = torch.autograd.grad(price.sum(), (S, sigma, T, r), create_graph=True)
    gamma, vanna = torch.autograd.grad(delta.sum(), (S, sigma), retain_graph=True)
    (volga,) = torch.autograd.grad(vega.sum(), sigma)
    return dict(price=price, delta=delta, gamma=gamma, vega=vega, theta=-theta, rho=rho, vanna=vanna, volga=volga)


K = torch.tensor([80.0, 100.0, 120.0])
S = torch.full((3,), 100.0, requires_grad=True)
T = torch.full((3,), 0.75, requires_grad=True)
r = torch.full((3,), 0.03, requires_grad=True)
sigma = torch.tensor([0.28, 0.22, 0.25], requires_grad=True)

g = greeks(S, K, T, r, sigma)
print("strike    " + "".join(f"{k:12.1f}" for k in K.tolist()))
for name, v in g.items():
    print(f"{name:10s}" + "".join(f"{a:12.5f}" for a in v.tolist()))

# closed formulas
with torch.no_grad():
    d1 = (torch.log(S / K) + (r + 0.5 * sigma ** 2) * T) / (sigma * T.sqrt())
    pdf = N.log_prob(d1).exp()
    print("delta agrees:", torch.allclose(g["delta"], N.cdf(d1)))
    print("gamma agrees:", torch.allclose(g["gamma"], pdf / (S * sigma * T.sqrt())))
    print("vega agrees: ", torch.allclose(g["vega"], S * pdf * T.sqrt()))

# pathwise Monte Carlo, for an Asian option that has no formula
z = torch.randn(8000, 12)
z = torch.cat([z, -z])
s0 = torch.tensor(100.0, requires_grad=True)
vol = torch.tensor(0.22, requires_grad=True)
dt = 0.75 / 12
path = s0 * torch.exp(torch.cumsum((0.03 - 0.5 * vol ** 2) * dt + vol * dt ** 0.5 * z, dim=1))
for name, terminal in (("european", path[:, -1]), ("asian", path.mean(1))):
    payoff = torch.relu(terminal - 100.0) * torch.exp(torch.tensor(-0.03 * 0.75))
    d, v = torch.autograd.grad(payoff.mean(), (s0, vol), retain_graph=True)
    print(f"{name:9s} price {payoff.mean().item():.3f}  delta {d.item():.3f}  vega {v.item():.2f}")

# implied volatility by Newton's method, on the whole smile at once
target = g["price"].detach() * torch.tensor([1.01, 1.0, 1.05])
iv = torch.full((3,), 0.3)
for it in range(6):
    iv.requires_grad_(True)
    p = call_price(S.detach(), K, T.detach(), r.detach(), iv)
    (vega,) = torch.autograd.grad(p.sum(), iv)
    iv = (iv - (p - target) / vega).detach()
    print(f"newton {it}: largest price error {(p - target).abs().max().item():.4f}")
print("implied volatilities:", [f"{v:.4f}" for v in iv.tolist()])
