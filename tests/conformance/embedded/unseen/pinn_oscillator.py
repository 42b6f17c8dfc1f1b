# Physics-informed network sketch for u'' + u = 0, u(0)=1, u'(0)=0, with second derivatives from autograd.
import math
import torch
import torch.nn as nn


class Sine(nn.Module):
    def __init__(self, w0=1.0):
        super().__init__()
        self.w0 = nn.Parameter(torch.tensor(w0))

    def forward(self, x):
        return torch.sin(self.w0 * x)


def derivative(u, t):
    return torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]


torch.manual_seed(123)
torch.set_default_dtype(torch.float64)
net = nn.Sequential(nn.Linear(1, 16), Sine(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
for m in net:
    if isinstance(m, nn.Linear):
        nn.init.xavier_normal_(m.weight)
        nn.init.zeros_(m.bias)

# sanity check of the derivative helper on a known function
t = torch.linspace(0, math.pi, 5).unsqueeze(1).requires_grad_()
u = t ** 3 + torch.cos(t)
du = derivative(u, t)
d2u = derivative(du, t)
print(torch.allclose(du, 3 * t ** 2 - torch.sin(t)), torch.allclose(d2u, 6 * t - torch.cos(t)))
print(d2u.detach().squeeze())

t_col = torch.linspace(0, 2, 32).view(-1, 1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
for step in range(7):
    opt.zero_grad()
    u = net(t_col)
    ut = derivative(u, t_col)
    utt = derivative(ut, t_col)
    physics = (utt + u).pow(2).mean()
    u0 = net(t0)
    boundary = (u0 - 1).pow(2).squeeze() + derivative(u0, t0).pow(2).squeeze()
    loss = physics + 5 * boundary
    loss.backward()
    opt.step()
    sched.step()
    if step % 3 == 0 or step == 6:
        print(f"{step:3d} loss {loss.item():.4f} physics {physics.item():.4f} "
              f"boundary {boundary.item():.4f} lr {sched.get_last_lr()[0]:.5f}")

with torch.no_grad():
    tt = torch.linspace(0, 2, 6).unsqueeze(-1)
    table = torch.cat([tt, net(tt), tt.cos()], dim=1)
torch.set_printoptions(precision=3)
print(table)
print("rel. L2 error: %.4f" % ((table[:, 1] - table[:, 2]).norm() / table[:, 2].norm()).item())
print("grad wrt w0: %.4f" % net[1].w0.grad.item(), net[1].w0.dtype)
