"""Fine-tuning tricks: gradient accumulation, frozen layers, parameter groups and an averaged model."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU())
        self.head = nn.Linear(20, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
X = torch.randn(64, 10)
Y = (X[:, :3].abs()).argmax(1)
net = Net()

# 1. accumulated gradients are the same as those of a big batch
net.zero_grad()
F.cross_entropy(net(X), Y).backward()
big = [p.grad.clone() for p in net.parameters()]
net.zero_grad()
accumulation_steps = 4
for xb, yb in zip(X.chunk(accumulation_steps), Y.chunk(accumulation_steps)):
    loss = F.cross_entropy(net(xb), yb) / accumulation_steps
    loss.backward()
same = all(torch.allclose(p.grad, g, atol=1e-6) for p, g in zip(net.parameters(), big))
print("accumulated == big batch:", same)

# 2. freeze the backbone
for p in net.backbone.parameters():
    p.requires_grad = False
before = {n: p.detach().clone() for n, p in net.named_parameters()}
opt = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.2)
for _ in range(20):
    opt.zero_grad()
    loss = F.cross_entropy(net(X), Y)
    loss.backward()
    opt.step()
changed = [n for n, p in net.named_parameters() if not torch.equal(p, before[n])]
print("frozen phase: loss %.3f changed %s" % (loss.item(), changed))

# 3. unfreeze with a smaller learning rate and no decay on biases
for p in net.parameters():
    p.requires_grad_(True)
decay = [p for n, p in net.backbone.named_parameters() if n.endswith("weight")]
no_decay = [p for n, p in net.backbone.named_parameters() if n.endswith("bias")]
opt = torch.optim.AdamW([
    {"params": decay, "lr": 2e-3, "weight_decay": 0.1},
    {"params": no_decay, "lr": 2e-3, "weight_decay": 0.0},
    {"params": net.head.parameters(), "lr": 1e-2},
])
print("groups", [(len(g["params"]), g["lr"], g["weight_decay"]) for g in opt.param_groups])

# 4. exponential moving average of the weights
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
for step in range(1, 61):
    opt.zero_grad()
    noisy = X + 0.1 * torch.randn_like(X)
    loss = F.cross_entropy(net(noisy), Y)
    loss.backward()
    total_norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5)
    opt.step()
    ema.update_parameters(net)
    if step % 20 == 0:
        print("step %d loss %.3f grad norm %.2f" % (step, loss.item(), total_norm.item()))
with torch.no_grad():
    for name, m in (("raw", net), ("ema", ema)):
        print("%s accuracy %.2f loss %.3f" % (name, (m(X).argmax(1) == Y).float().mean(), F.cross_entropy(m(X), Y)))
print("averaged", ema.n_averaged.item(), "times")
