"""A Q network with a target network, a replay buffer, soft updates."""
import copy
import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(21)
online = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.RMSprop(online.parameters(), lr=0.01)
memory = [(torch.rand(2), random.randrange(2), random.random(), torch.rand(2)) for _ in range(20)]
for step in range(3):
    batch = random.sample(memory, 5)
    states, actions, rewards, following = (torch.stack([b[0] for b in batch]), torch.tensor([b[1] for b in batch]), torch.tensor([b[2] for b in batch]),
                                           torch.stack([b[3] for b in batch]))
    q = online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = rewards + 0.9 * target(following).max(1)[0]
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(online.parameters(), 0.1)
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(online.parameters(), target.parameters()):
            t.mul_(0.9).add_(0.1 * p)
    print(step, loss.item())
