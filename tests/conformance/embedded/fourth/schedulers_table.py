"""Print the learning rate of many schedulers side by side, including warmup plus cosine and a LambdaLR."""
import math

import torch
from torch.optim import lr_scheduler as S


def make_opt():
    p = torch.nn.Parameter(torch.zeros(1))
    return torch.optim.SGD([p], lr=1.0, momentum=0.9)


def warm_cosine(opt):
    warm = S.LinearLR(opt, start_factor=0.1, total_iters=3)
    cos = S.CosineAnnealingLR(opt, T_max=9, eta_min=0.05)
    return S.SequentialLR(opt, [warm, cos], milestones=[3])


def noam(opt, warmup=4):
    return S.LambdaLR(opt, lambda s: min((s + 1) ** -0.5, (s + 1) * warmup ** -1.5) * math.sqrt(warmup))


factories = {
    "step": lambda o: S.StepLR(o, step_size=4, gamma=0.5),
    "multi": lambda o: S.MultiStepLR(o, milestones=[3, 8], gamma=0.1),
    "exp": lambda o: S.ExponentialLR(o, gamma=0.8),
    "cosine": lambda o: S.CosineAnnealingLR(o, T_max=12),
    "restarts": lambda o: S.CosineAnnealingWarmRestarts(o, T_0=4),
    "onecycle": lambda o: S.OneCycleLR(o, max_lr=1.0, total_steps=13),
    "cyclic": lambda o: S.CyclicLR(o, base_lr=0.1, max_lr=1.0, step_size_up=3),
    "poly": lambda o: S.PolynomialLR(o, total_iters=12, power=2),
    "warmcos": warm_cosine,
    "noam": noam,
}

torch.manual_seed(0)
table = {}
for name, make in factories.items():
    opt = make_opt()
    sched = make(opt)
    lrs = []
    for epoch in range(12):
        lrs.append(opt.param_groups[0]["lr"])
        opt.step()
        sched.step()
    table[name] = lrs

print("epoch " + " ".join(f"{n:>8s}" for n in table))
for e in range(12):
    print(f"{e:5d} " + " ".join(f"{table[n][e]:8.3f}" for n in table))

# state can be saved and loaded again
opt = make_opt()
s1 = S.StepLR(opt, 2)
for _ in range(3):
    opt.step()
    s1.step()
s2 = S.StepLR(make_opt(), 2)
s2.load_state_dict(s1.state_dict())
print("restored epoch", s2.last_epoch, "last lr %.3f" % s2.get_last_lr()[0])
