# Physics-informed network for u'' + u = 0, u(0)=1, u'(0)=0 with LBFGS; double backward checks.
import math
import torch
import torch.nn as nn

torch.manual_seed(12)
torch.set_default_dtype(torch.double)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


net = nn.Sequential(nn.Linear(1, 16), Sine(), nn.Linear(16, 1))
t = torch.linspace(0, 3, 12).unsqueeze(1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)


def derivs(f, t):
    u = f(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    d2u = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
    return u, du, d2u


def residual():
    u, _, d2u = derivs(net, t)
    u0, du0, _ = derivs(net, t0)
    ode = (d2u + u).pow(2).mean()
    ic = (u0 - 1).pow(2).sum() + du0.pow(2).sum()
    return ode, ic


opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4, history_size=10)
evals = 0


def closure():
    global evals
    evals += 1
    opt.zero_grad()
    ode, ic = residual()
    loss = ode + ic
    loss.backward()
    return loss


for outer in range(2):
    loss = opt.step(closure)
    print(f"outer {outer} loss at start {loss.item():.4f}")
ode, ic = residual()
print("ode residual %.4f ic residual %.4f closure calls %d" % (ode.item(), ic.item(), evals))
with torch.no_grad():
    err = (net(t) - torch.cos(t)).abs().max()
print("max error %.3f" % err)

# the derivative helper on a known function
u, du, d2u = derivs(lambda s: torch.sin(2 * s) + s ** 3, t)
print("first derivative:", torch.allclose(du, 2 * torch.cos(2 * t) + 3 * t ** 2))
print("second derivative:", torch.allclose(d2u, -4 * torch.sin(2 * t) + 6 * t))
# Hessian-vector product two ways on Rosenbrock
rosen = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
x = torch.tensor([0.5, -0.3, 0.8], requires_grad=True)
v = torch.tensor([1.0, 2.0, -1.0])
g = torch.autograd.grad(rosen(x), x, create_graph=True)[0]
hv = torch.autograd.grad(g @ v, x)[0]
H = torch.autograd.functional.hessian(rosen, x.detach())
print("Hv:", hv, "matches:", torch.allclose(H @ v, hv))
print("H:\n", H)

# gradient penalty
w = torch.randn(4, 2, requires_grad=True)
inp = torch.randn(6, 4, requires_grad=True)
out = torch.sigmoid(inp @ w).prod(1).sum()
gi, = torch.autograd.grad(out, inp, create_graph=True)
penalty = ((gi.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
print("penalty %.4f grad of w norm %.4f" % (penalty.item(), w.grad.norm().item()))

# fixed-step RK4 with gradients to the frequency
omega = torch.tensor(1.3, requires_grad=True)
y = torch.tensor([1.0, 0.0])
f = lambda y: torch.stack([y[1], -omega ** 2 * y[0]])
h = 0.25
for _ in range(4):
    k1 = f(y); k2 = f(y + h / 2 * k1); k3 = f(y + h / 2 * k2); k4 = f(y + h * k3)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
y[0].backward()
print("rk4 %.3f exact %.3f" % (y[0].item(), math.cos(1.3)), "d/domega %.3f exact %.3f" % (omega.grad, -math.sin(1.3)))
