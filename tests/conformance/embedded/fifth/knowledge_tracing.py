"""Traces pupils' knowledge of five maths skills from right and wrong answers with an LSTM (deep knowledge tracing)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
SKILLS = ["count", "add", "subtract", "multiply", "divide"]
K, STEPS = len(SKILLS), 20


def simulate_pupils(n):
    """Practice raises ability; each skill also helps the next one a little."""
    ability = torch.randn(n, K) * 0.5 - torch.linspace(0, 1.5, K)
    skill = torch.randint(0, K, (n, STEPS))
    right = torch.zeros(n, STEPS)
    rows = torch.arange(n)
    for t in range(STEPS):
        s = skill[:, t]
        right[:, t] = torch.bernoulli(torch.sigmoid(2 * ability[rows, s]))
        ability[rows, s] += 0.35
        ability[rows, (s + 1).clamp(max=K - 1)] += 0.15
    return skill, right


class DKT(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(2 * K, 16)
        self.lstm = nn.LSTM(16, hidden, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(hidden, K)

    def forward(self, skill, right):
        token = skill + K * right.long()
        h, _ = self.lstm(self.embed(token))
        return self.out(self.drop(h))              # logit of each skill after every answer


def next_answer_loss(logits, skill, right):
    nxt = logits[:, :-1].gather(2, skill[:, 1:, None]).squeeze(2)
    return nn.functional.binary_cross_entropy_with_logits(nxt, right[:, 1:]), nxt


def auc(score, label):
    rank = score.argsort().argsort().double() + 1
    pos = label == 1
    n1, n0 = pos.sum(), (~pos).sum()
    return ((rank[pos].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)).item()


train = TensorDataset(*simulate_pupils(240))
test_skill, test_right = simulate_pupils(100)
model = DKT()
opt = torch.optim.Adam(model.parameters(), lr=0.012)
for epoch in range(6):
    model.train()
    losses = []
    for skill, right in DataLoader(train, batch_size=48, shuffle=True, drop_last=True):
        loss, _ = next_answer_loss(model(skill, right), skill, right)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    print("epoch", epoch, "loss %.4f" % torch.stack(losses).mean())

model.eval()
with torch.no_grad():
    logits = model(test_skill, test_right)
    loss, nxt = next_answer_loss(logits, test_skill, test_right)
print("test loss %.4f  AUC %.3f" % (loss, auc(nxt.flatten(), test_right[:, 1:].flatten())))

print("pupil 0, estimated mastery in percent")
print("answer".ljust(14) + " ".join(s[:5].rjust(6) for s in SKILLS))
prob = logits[0].sigmoid() * 100
for t in range(0, STEPS, 4):
    mark = "+" if test_right[0, t] else "-"
    print((mark + SKILLS[test_skill[0, t]]).ljust(14) + " ".join("%6.1f" % v for v in prob[t]))
