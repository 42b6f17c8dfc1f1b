# REINFORCE with a baseline on a short corridor: walk right to reach the goal.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical
from collections import deque


class Corridor:
    def __init__(self, length=4, limit=7):
        self.length, self.limit = length, limit

    def reset(self):
        self.pos, self.t = 1, 0
        return self._obs()

    def _obs(self):
        return F.one_hot(torch.tensor(self.pos), self.length).float()

    def step(self, action):
        self.t += 1
        self.pos = max(0, min(self.length - 1, self.pos + (1 if action == 1 else -1)))
        done = self.pos == self.length - 1 or self.t >= self.limit
        reward = 1.0 if self.pos == self.length - 1 else -0.1
        return self._obs(), reward, done


class Policy(nn.Module):
    def __init__(self, n_obs, n_act, hidden=12):
        super().__init__()
        self.body = nn.Linear(n_obs, hidden)
        self.pi = nn.Linear(hidden, n_act)
        self.v = nn.Linear(hidden, 1)

    def forward(self, s):
        h = torch.relu(self.body(s))
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def discounted(rewards, gamma=0.95):
    R, out = 0.0, deque()
    for r in reversed(rewards):
        R = r + gamma * R
        out.appendleft(R)
    return torch.tensor(list(out))


torch.manual_seed(21)
env = Corridor()
policy = Policy(env.length, 2)
optimizer = torch.optim.Adagrad(policy.parameters(), lr=0.3)
history = []

for episode in range(6):
    s, done = env.reset(), False
    log_probs, values, rewards, entropies = [], [], [], []
    while not done:
        dist, value = policy(s)
        a = dist.sample()
        s, r, done = env.step(a.item())
        log_probs.append(dist.log_prob(a))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(r)
    returns = discounted(rewards)
    values = torch.stack(values)
    adv = returns - values.detach()
    pg = -(torch.stack(log_probs) * adv).sum()
    vf = F.smooth_l1_loss(values, returns, reduction="sum")
    loss = pg + 0.5 * vf - 0.01 * torch.stack(entropies).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy.parameters(), 1.0)
    optimizer.step()
    history.append(sum(rewards))
    print(f"ep {episode} steps {len(rewards):2d} return {history[-1]:+.2f} loss {loss.item():+.4f}")

with torch.no_grad():
    dist, v = policy(torch.eye(env.length))
    print("P(right):", [round(p, 3) for p in dist.probs[:, 1].tolist()])
    print("V(s):", v)
    print("greedy:", "".join("LR"[i] for i in dist.logits.argmax(-1)))
