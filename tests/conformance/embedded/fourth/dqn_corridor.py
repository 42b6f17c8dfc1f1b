"""Deep Q-learning with replay memory and a target network in a corridor with two exits."""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "done"))


class Corridor:
    """Small reward at the left, big one at the right; a step costs a little."""
    n = 7

    def reset(self):
        self.pos, self.t = 2, 0
        return self.obs()

    def obs(self):
        v = torch.zeros(self.n)
        v[self.pos] = 1
        return v

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.t += 1
        if self.pos == 0:
            return self.obs(), 0.2, True
        if self.pos == self.n - 1:
            return self.obs(), 1.0, True
        return self.obs(), -0.02, self.t >= 20


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


BATCH, GAMMA, TAU = 32, 0.95, 0.05
random.seed(0)
torch.manual_seed(0)
env = Corridor()
policy_net = nn.Sequential(nn.Linear(env.n, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = nn.Sequential(nn.Linear(env.n, 32), nn.ReLU(), nn.Linear(32, 2))
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=5e-3, amsgrad=True)
memory = ReplayMemory(500)


def optimize_model():
    if len(memory) < BATCH:
        return
    batch = Transition(*zip(*memory.sample(BATCH)))
    state, next_state = torch.stack(batch.state), torch.stack(batch.next_state)
    action = torch.tensor(batch.action).unsqueeze(1)
    reward = torch.tensor(batch.reward)
    done = torch.tensor(batch.done, dtype=torch.float)
    q = policy_net(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        target = reward + GAMMA * (1 - done) * target_net(next_state).max(1).values
    loss = nn.SmoothL1Loss()(q, target)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    with torch.no_grad():
        for tp, p in zip(target_net.parameters(), policy_net.parameters()):
            tp.lerp_(p, TAU)


returns = []
for episode in range(40):
    state, done, ret = env.reset(), False, 0.0
    eps = max(0.1, 1.0 - episode / 25)
    while not done:
        if random.random() < eps:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = policy_net(state).argmax().item()
        next_state, reward, done = env.step(action)
        memory.push(state, action, next_state, reward, done)
        state, ret = next_state, ret + reward
        optimize_model()
    returns.append(ret)
    if episode % 10 == 9:
        print("episode %d mean return of last ten %.2f" % (episode + 1, sum(returns[-10:]) / 10))

with torch.no_grad():
    q = policy_net(torch.eye(env.n)[1:-1])
print("greedy policy:", "".join("<>"[a] for a in q.argmax(1).tolist()))
