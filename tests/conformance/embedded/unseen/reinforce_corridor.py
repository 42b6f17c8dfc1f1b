# REINFORCE with a learned baseline on a one-dimensional corridor (reach the right end).
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(21)
N, GOAL, MAX_STEPS, GAMMA = 6, 5, 6, 0.95


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(N, 16)
        self.pi = nn.Linear(16, 2)
        self.v = nn.Linear(16, 1)
        for layer in (self.body, self.pi, self.v):
            nn.init.orthogonal_(layer.weight, gain=0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, s):
        h = torch.relu(self.body(s))
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


eye = torch.eye(N)
policy = Policy()
optimizer = torch.optim.Adam([
    {"params": [*policy.body.parameters(), *policy.pi.parameters()]},
    {"params": policy.v.parameters(), "lr": 0.1},
], lr=0.05)


def rollout():
    pos, logps, values, rewards, entropies = 2, [], [], [], []
    for _ in range(MAX_STEPS):
        dist, value = policy(eye[pos])
        a = dist.sample()
        logps.append(dist.log_prob(a))
        values.append(value)
        entropies.append(dist.entropy())
        pos = max(0, min(N - 1, pos + (1 if a.item() == 1 else -1)))
        rewards.append(1.0 if pos == GOAL else -0.05)
        if pos == GOAL:
            break
    return torch.stack(logps), torch.stack(values), rewards, torch.stack(entropies)


for episode in range(4):
    logps, values, rewards, ent = rollout()
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    adv = returns - values.detach()
    loss = -(logps * adv).sum() + nn.functional.mse_loss(values, returns) - 0.01 * ent.mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(policy.parameters(), max_norm=2.0)
    optimizer.step()
    print(f"ep {episode:2d} len {len(rewards)} return {returns[0].item():+.4f} loss {loss.item():+.4f} "
          f"grad {norm.item():.4f}")

with torch.no_grad():
    dist, v = policy(eye)
print("P(right):", dist.probs[:, 1])
print("values:", v)
print(optimizer.param_groups[1]["lr"], dist, dist.mode.tolist())
