"""Deep Q-learning with a replay buffer and a target network on a one-dimensional corridor."""
import copy
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "s a r s2 done")


class Corridor:
    """Start on the left, goal on the right; action 0 = left, 1 = right."""

    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.pos, self.t = 0, 0
        return self.pos

    def step(self, action):
        self.pos = max(0, self.pos + (1 if action == 1 else -1))
        self.t += 1
        if self.pos == self.length - 1:
            return self.pos, 1.0, True
        return self.pos, -0.05, self.t >= 20


class QNet(nn.Module):
    def __init__(self, n_states, n_actions=2):
        super().__init__()
        self.n = n_states
        self.net = nn.Sequential(nn.Linear(n_states, 24), nn.ReLU(), nn.Linear(24, n_actions))

    def forward(self, s):
        return self.net(F.one_hot(s, self.n).float())


class Agent:
    def __init__(self, n_states, gamma=0.95):
        self.q = QNet(n_states)
        self.target = copy.deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-2)
        self.memory = deque(maxlen=500)
        self.gamma = gamma

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return self.q(torch.tensor([s])).argmax(1).item()

    def learn(self, batch_size=32):
        if len(self.memory) < batch_size:
            return None
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        s, a, s2 = map(torch.tensor, (batch.s, batch.a, batch.s2))
        r = torch.tensor(batch.r)
        done = torch.tensor(batch.done, dtype=torch.float32)
        q = self.q(s).gather(1, a[:, None]).squeeze(1)
        with torch.no_grad():
            target = r + self.gamma * (1 - done) * self.target(s2).max(1).values
        loss = F.smooth_l1_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    env = Corridor()
    agent = Agent(env.length)
    for ep in range(30):
        s, done, total = env.reset(), False, 0.0
        eps = max(0.05, 1 - ep / 20)
        while not done:
            a = agent.act(s, eps)
            s2, r, done = env.step(a)
            agent.memory.append(Transition(s, a, r, s2, done))
            agent.learn()
            s, total = s2, total + r
        if ep % 5 == 4:
            agent.target.load_state_dict(agent.q.state_dict())
            print(f"episode {ep + 1:2d} return {total:.2f}")
    policy = [agent.act(i, 0.0) for i in range(env.length - 1)]
    print("greedy policy:", policy)
