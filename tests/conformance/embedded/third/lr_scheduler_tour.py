"""Print the learning rates produced by several schedulers on a dummy optimizer."""
import torch
from torch.optim import SGD
from torch.optim import lr_scheduler as S

torch.manual_seed(0)


def make_opt(lr=0.1):
    p = torch.nn.Parameter(torch.zeros(1))
    return SGD([p], lr=lr)


def trace(name, factory, steps=10):
    opt = make_opt()
    sched = factory(opt)
    out = []
    for _ in range(steps):
        out.append(opt.param_groups[0]["lr"])
        opt.step()
        sched.step()
    print(f"{name:22s}", " ".join(f"{v:.4f}" for v in out))


trace("StepLR", lambda o: S.StepLR(o, step_size=3, gamma=0.5))
trace("MultiStepLR", lambda o: S.MultiStepLR(o, milestones=[2, 7], gamma=0.1))
trace("ExponentialLR", lambda o: S.ExponentialLR(o, gamma=0.9))
trace("CosineAnnealingLR", lambda o: S.CosineAnnealingLR(o, T_max=10, eta_min=0.001))
trace("WarmRestarts", lambda o: S.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2))
trace("LambdaLR", lambda o: S.LambdaLR(o, lambda e: 1.0 / (1 + e)))
trace("LinearLR", lambda o: S.LinearLR(o, start_factor=0.1, total_iters=5))
trace("PolynomialLR", lambda o: S.PolynomialLR(o, total_iters=8, power=2.0))
trace("OneCycleLR", lambda o: S.OneCycleLR(o, max_lr=0.1, total_steps=11))
trace("CyclicLR", lambda o: S.CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=3, cycle_momentum=False))


def warm_then_cos(o):
    warm = S.LinearLR(o, 0.2, 1.0, total_iters=4)
    cos = S.CosineAnnealingLR(o, T_max=6)
    return S.SequentialLR(o, [warm, cos], milestones=[4])


trace("Sequential", warm_then_cos)

# plateau needs a metric
opt = make_opt()
plateau = S.ReduceLROnPlateau(opt, mode="min", factor=0.5, patience=1)
for metric in [1.0, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7, 0.7]:
    plateau.step(metric)
    print("metric %.1f lr %.4f" % (metric, opt.param_groups[0]["lr"]))
