"""Train one shared trunk with a regression and a classification head and learned uncertainty weights."""
import torch
from torch import nn

torch.manual_seed(30)

N = 240
X = torch.randn(N, 6)
y_reg = (X[:, :3].sum(1) + 0.1 * torch.randn(N)).unsqueeze(1)
y_cls = (X[:, 3] - X[:, 4] > 0).long()


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Dropout(0.1), nn.Linear(24, 24), nn.GELU())
        self.heads = nn.ModuleDict({"reg": nn.Linear(24, 1), "cls": nn.Linear(24, 2)})
        self.log_vars = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in self.heads})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}

    def combine(self, losses):
        return sum(torch.exp(-self.log_vars[k]) * l + self.log_vars[k] for k, l in losses.items())


model = MultiTask()
optimizer = torch.optim.AdamW([
    {"params": model.trunk.parameters(), "lr": 5e-3},
    {"params": model.heads.parameters(), "lr": 1e-2, "weight_decay": 0.0},
    {"params": model.log_vars.parameters(), "lr": 1e-2, "weight_decay": 0.0},
])
for g in optimizer.param_groups:
    print("group", len(g["params"]), "tensors lr", g["lr"], "wd", g["weight_decay"])

train, test = torch.arange(0, 180), torch.arange(180, N)
for epoch in range(41):
    model.train()
    out = model(X[train])
    losses = {
        "reg": nn.functional.huber_loss(out["reg"], y_reg[train]),
        "cls": nn.functional.cross_entropy(out["cls"], y_cls[train], label_smoothing=0.05),
    }
    loss = model.combine(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(epoch, {k: round(v.item(), 3) for k, v in losses.items()})

model.eval()
with torch.no_grad():
    out = model(X[test])
ss = (out["reg"] - y_reg[test]).pow(2).sum() / (y_reg[test] - y_reg[test].mean()).pow(2).sum()
print("R2 %.3f" % (1 - ss.item()))
print("acc %.3f" % (out["cls"].argmax(1) == y_cls[test]).float().mean().item())
