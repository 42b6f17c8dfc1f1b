"""Physics-informed network that solves u'' + u = 0 with u(0)=1 and u'(0)=0 using L-BFGS."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        layers = [nn.Linear(1, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        layers.append(nn.Linear(width, 1))
        self.net = nn.Sequential(*layers)
        self.net.apply(self.init)

    @staticmethod
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_normal_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, t):
        return self.net(t)


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


model = MLP()
t = torch.linspace(0, 3, 40).unsqueeze(1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)


def pinn_loss():
    u = model(t)
    residual = derivative(derivative(u, t), t) + u
    u0 = model(t0)
    bc = (u0 - 1) ** 2 + derivative(u0, t0) ** 2
    return residual.pow(2).mean() + 10 * bc.sum()


opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=20, history_size=10, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = pinn_loss()
    loss.backward()
    return loss


print("initial loss %.1f" % pinn_loss().item())
for outer in range(6):
    opt.step(closure)
final = pinn_loss().item()
print("loss below 0.01:", final < 0.01)

with torch.no_grad():
    exact = torch.cos(t)
    err = (model(t) - exact).abs().max().item()
print("max error below 0.1:", err < 0.1)
for v in (0.0, 1.0, 2.0, 3.0):
    u = model(torch.tensor([[v]])).item()
    print("u(%.0f) = %.1f   cos = %.1f" % (v, u, torch.cos(torch.tensor(v)).item()))
