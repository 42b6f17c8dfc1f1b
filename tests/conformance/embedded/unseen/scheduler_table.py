# Print learning rate tables for several schedulers, then train a toy problem with warmup + cosine.
import math
import torch
from torch import nn, optim
from torch.optim import lr_scheduler as sched


def run(make, steps=10, lr=0.1, opt_cls=optim.SGD, metric=None, **kw):
    p = nn.Parameter(torch.zeros(1))
    opt = opt_cls([p], lr=lr, **kw)
    s = make(opt)
    lrs = []
    for t in range(steps):
        lrs.append(opt.param_groups[0]["lr"])
        opt.step()
        s.step(metric[t]) if metric is not None else s.step()
    return lrs


table = {
    "StepLR": run(lambda o: sched.StepLR(o, step_size=3, gamma=0.5)),
    "MultiStep": run(lambda o: sched.MultiStepLR(o, milestones=[2, 5, 8], gamma=0.1)),
    "Exponential": run(lambda o: sched.ExponentialLR(o, gamma=0.9)),
    "Cosine": run(lambda o: sched.CosineAnnealingLR(o, T_max=9, eta_min=0.001)),
    "WarmRestarts": run(lambda o: sched.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2)),
    "OneCycle": run(lambda o: sched.OneCycleLR(o, max_lr=0.5, total_steps=12, pct_start=0.3), momentum=0.9),
    "Polynomial": run(lambda o: sched.PolynomialLR(o, total_iters=8, power=2.0)),
    "Cyclic": run(lambda o: sched.CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=3), momentum=0.9),
    "Plateau": run(lambda o: sched.ReduceLROnPlateau(o, factor=0.5, patience=1),
                   metric=[3, 2, 2, 2, 2, 1, 1, 1, 1, 1]),
    "Warmup+Cos": run(lambda o: sched.SequentialLR(
        o, [sched.LinearLR(o, 0.1, total_iters=3), sched.CosineAnnealingLR(o, T_max=7)], milestones=[3])),
}
for name, lrs in table.items():
    print(f"{name:>12} " + " ".join(f"{v:.4f}" for v in lrs))

# now a real (if tiny) training loop
torch.manual_seed(123)
X = torch.randn(40, 5)
true_w = torch.arange(1.0, 6.0)
y = X @ true_w + 0.1 * torch.randn(40)

total, warmup = 24, 5


def lr_lambda(step):
    if step < warmup:
        return (step + 1) / warmup
    progress = (step - warmup) / (total - warmup)
    return 0.5 * (1 + math.cos(math.pi * progress))


lin = nn.Linear(5, 1)
with torch.no_grad():
    lin.weight.fill_(0.0)
    lin.bias.zero_()
opt = optim.NAdam(lin.parameters(), lr=0.8)
scheduler = sched.LambdaLR(opt, lr_lambda)
for step in range(total):
    loss = nn.functional.huber_loss(lin(X).squeeze(), y, delta=1.0)
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step()
    if step % 6 == 0 or step == total - 1:
        print(f"step {step:2d} lr {scheduler.get_last_lr()[0]:.4f} loss {loss.item():.4f}")
print("learned:", [round(v, 2) for v in lin.weight.flatten().tolist()], "bias %.2f" % lin.bias.item())
print(sorted(scheduler.state_dict().keys())[:3])
