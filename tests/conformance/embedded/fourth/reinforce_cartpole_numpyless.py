"""REINFORCE with baseline on a hand written cart-pole, many poles simulated at once."""
import math

import torch
import torch.nn as nn
from torch.distributions import Categorical


def physics(s, a):
    x, xd, th, thd = s.unbind(1)
    force = torch.where(a == 1, 10.0, -10.0)
    cos, sin = th.cos(), th.sin()
    temp = (force + 0.05 * thd ** 2 * sin) / 1.1
    thacc = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
    xacc = temp - 0.05 * thacc * cos / 1.1
    dt = 0.02
    return torch.stack([x + dt * xd, xd + dt * xacc, th + dt * thd, thd + dt * thacc], dim=1)


def failed(s):
    return (s[:, 0].abs() > 2.4) | (s[:, 2].abs() > 12 * math.pi / 180)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 24)
        self.affine2 = nn.Linear(24, 2)

    def forward(self, s):
        return Categorical(logits=self.affine2(torch.tanh(self.affine1(s))))


def rollout(policy, n, horizon):
    s = (torch.rand(n, 4) - 0.5) * 0.1
    alive = torch.ones(n, dtype=torch.bool)
    logps, lives = [], []
    for _ in range(horizon):
        dist = policy(s)
        a = dist.sample()
        logps.append(dist.log_prob(a))
        lives.append(alive.float())
        s = physics(s, a)
        alive = alive & ~failed(s)
        if not alive.any():
            break
    return torch.stack(logps), torch.stack(lives)


torch.manual_seed(543)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.03)
gamma = 0.97
for it in range(1, 17):
    logp, live = rollout(policy, 24, 60)
    returns = torch.zeros_like(live)
    R = torch.zeros(live.size(1))
    for t in reversed(range(live.size(0))):
        R = live[t] + gamma * R * live[t]
        returns[t] = R
    baseline = (returns * live).sum(1, keepdim=True) / live.sum(1, keepdim=True)
    adv = (returns - baseline) * live
    adv = adv / (adv.std() + 1e-6)
    loss = -(logp * adv).sum() / live.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 4 == 0:
        print("iteration %2d mean length %.1f" % (it, live.sum(0).mean().item()))
print("longest possible:", 60)
