"""Physics-informed network for the equation u' = -u + sin(t), u(0) = 1, checked against the exact solution."""
import torch
import torch.nn as nn


class PINN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, t):
        # hard constraint u(0) = 1
        return 1 + t * self.net(t)


def exact(t):
    return 1.5 * torch.exp(-t) + 0.5 * (torch.sin(t) - torch.cos(t))


def residual(model, t):
    u = model(t)
    du, = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)
    return du + u - torch.sin(t)


torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
model = PINN()
t_col = torch.linspace(0, 3, 40).reshape(-1, 1).requires_grad_(True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
history = []
for epoch in range(201):
    optimizer.zero_grad()
    loss = residual(model, t_col).pow(2).mean()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if epoch % 50 == 0:
        print(f"epoch {epoch:4d} residual {loss.item():.4f}")

t = torch.linspace(0, 3, 7).unsqueeze(1)
with torch.no_grad():
    u = model(t)
print("   t     pinn   exact")
for a, b, c in zip(t.flatten().tolist(), u.flatten().tolist(), exact(t).flatten().tolist()):
    print(f"{a:5.2f} {b:7.2f} {c:7.2f}")
print("max error below 0.1:", (u - exact(t)).abs().max().item() < 0.1)
print("u(0) =", u[0].item())
print("dtype", u.dtype)
