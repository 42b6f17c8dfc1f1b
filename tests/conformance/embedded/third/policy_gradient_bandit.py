"""REINFORCE with a running baseline on a contextual bandit, using torch.distributions.Categorical."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(21)

n_context, n_arms = 3, 4
reward_probs = torch.tensor([
    [0.9, 0.1, 0.2, 0.1],
    [0.1, 0.2, 0.8, 0.3],
    [0.2, 0.1, 0.1, 0.7],
])

policy = nn.Linear(n_context, n_arms)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
baseline = 0.0

for update in range(100):
    ctx = torch.randint(0, n_context, (64,))
    state = nn.functional.one_hot(ctx, n_context).float()
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    reward = torch.bernoulli(reward_probs[ctx, action])
    advantage = reward - baseline
    loss = -(dist.log_prob(action) * advantage).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    if (update + 1) % 20 == 0:
        print(f"update {update + 1:3d} reward {reward.mean().item():.2f} entropy {dist.entropy().mean().item():.3f}")

probs = torch.softmax(policy(torch.eye(n_context)), dim=1)
for c in range(n_context):
    print("context", c, "best arm", probs[c].argmax().item(), "p=%.2f" % probs[c].max().item())
