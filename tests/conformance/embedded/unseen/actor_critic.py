"""Actor and critic with distributions."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(7)
body, actor, critic = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
params = list(body.parameters()) + list(actor.parameters()) + list(critic.parameters())
opt = torch.optim.Adam(params, lr=3e-2)
log_probs, values, rewards = [], [], []
state = torch.randn(4)
for t in range(5):
    h = torch.relu(body(state))
    dist = Categorical(logits=actor(h))
    action = dist.sample()
    log_probs.append(dist.log_prob(action))
    values.append(critic(h))
    rewards.append(1.0 if action.item() == 0 else 0.0)
    state = torch.tanh(state + 0.1 * action)
returns, R = [], 0.0
for r in reversed(rewards):
    R = r + 0.99 * R
    returns.insert(0, R)
returns = torch.tensor(returns)
returns = (returns - returns.mean()) / (returns.std() + 1e-8)
advantage = returns - torch.cat(values).detach()
loss = -(torch.stack(log_probs) * advantage).sum() + nn.functional.smooth_l1_loss(torch.cat(values), returns)
opt.zero_grad()
loss.backward()
opt.step()
print(rewards, loss.item(), dist.entropy().item())
