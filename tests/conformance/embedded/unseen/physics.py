"""A pendulum integrated in tensors; the gradient of the end with respect to the start."""
import torch

theta0 = torch.tensor(0.5, requires_grad=True)
omega = torch.zeros(())
theta, dt, trace = theta0, 0.05, []
for _ in range(20):
    omega = omega - 9.81 * torch.sin(theta) * dt
    theta = theta + omega * dt
    trace.append(theta)
path = torch.stack(trace)
path[-1].backward()
print(path[::5].detach(), theta0.grad)
energy = 0.5 * omega ** 2 + 9.81 * (1 - torch.cos(theta))
print(f"{energy.item():.5f}", torch.trapezoid(path.detach(), dx=dt).item())
