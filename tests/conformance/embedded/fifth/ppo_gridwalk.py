"""Teaches an agent to walk to the door of a little grid room with PPO and generalised advantages."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(8)
N, T, ENVS = 4, 16, 32
GAMMA, LAM, CLIP = 0.97, 0.9, 0.2
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Room:
    """All environments at once; the door is in the corner (N-1, N-1)."""

    def __init__(self):
        self.pos = torch.randint(0, N, (ENVS, 2))

    def obs(self):
        return nn.functional.one_hot(self.pos, N).flatten(1).float()

    def step(self, action):
        self.pos = (self.pos + MOVES[action]).clamp(0, N - 1)
        done = (self.pos == N - 1).all(1)
        reward = torch.where(done, 1.0, -0.05)
        self.pos = torch.where(done[:, None], torch.randint(0, N, (ENVS, 2)), self.pos)
        return reward, done.float()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * N, 32), nn.Tanh())
        self.pi = nn.Linear(32, 4)
        self.v = nn.Linear(32, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)

    def forward(self, o):
        h = self.body(o)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


room, net = Room(), ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for update in range(12):
    obs, act, logp, val, rew, done = ([] for _ in range(6))
    with torch.no_grad():
        for _ in range(T):
            o = room.obs()
            dist, v = net(o)
            a = dist.sample()
            r, d = room.step(a)
            for store, item in zip((obs, act, logp, val, rew, done), (o, a, dist.log_prob(a), v, r, d)):
                store.append(item)
        last = net(room.obs())[1]
    obs, act, logp, val, rew, done = map(torch.stack, (obs, act, logp, val, rew, done))

    adv = torch.zeros_like(rew)
    gae = torch.zeros(ENVS)
    for t in reversed(range(T)):
        nxt = last if t == T - 1 else val[t + 1]
        delta = rew[t] + GAMMA * nxt * (1 - done[t]) - val[t]
        gae = delta + GAMMA * LAM * (1 - done[t]) * gae
        adv[t] = gae
    ret = adv + val
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)

    for _ in range(3):
        dist, v = net(obs)
        ratio = (dist.log_prob(act) - logp).exp()
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()
        loss = -surrogate + 0.5 * (v - ret).pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
    if update % 3 == 2:
        kl = (logp - dist.log_prob(act)).mean().item()
        print(f"update {update + 1:2d} mean reward {rew.mean().item():+.3f} "
              f"entropy {dist.entropy().mean().item():.3f} approx kl {abs(kl):.3f}")

room.pos = torch.cartesian_prod(torch.arange(N), torch.arange(N))
with torch.no_grad():
    dist, v = net(room.obs())
arrows = [">", "<", "v", "^"]
best = dist.probs.argmax(-1).view(N, N).tolist()
print("greedy policy:")
for i, line in enumerate(best):
    print(" ".join("D" if i == j == N - 1 else arrows[a] for j, a in enumerate(line)))
print("value of the room:\n", torch.round(v.view(N, N), decimals=2))
