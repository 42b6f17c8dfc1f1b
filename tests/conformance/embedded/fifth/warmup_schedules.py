"""Draws text curves of several learning-rate schedules, chained, sequential and self-made."""
import math
import torch
from torch.optim.lr_scheduler import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    PolynomialLR,
    SequentialLR,
)

torch.manual_seed(0)
STEPS = 20


class InverseSqrt(LRScheduler):
    """Linear warm-up, then 1/sqrt(step), like in the first transformer paper."""

    def __init__(self, optimizer, warmup, last_epoch=-1):
        self.warmup = warmup
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        n = self.last_epoch + 1
        k = min(n / self.warmup, math.sqrt(self.warmup / n))
        return [base * k for base in self.base_lrs]


def warm_cosine(opt):
    warm = LinearLR(opt, start_factor=0.1, total_iters=5)
    cos = CosineAnnealingLR(opt, T_max=STEPS - 5)
    return SequentialLR(opt, [warm, cos], milestones=[5])


schedules = {
    "warm-up + cosine": warm_cosine,
    "inverse sqrt": lambda o: InverseSqrt(o, warmup=4),
    "multi-step": lambda o: MultiStepLR(o, milestones=[8, 14], gamma=0.3),
    "chained": lambda o: ChainedScheduler([ConstantLR(o, factor=0.5, total_iters=4), ExponentialLR(o, gamma=0.9)]),
    "polynomial": lambda o: PolynomialLR(o, total_iters=STEPS, power=2.0),
    "restarts": lambda o: CosineAnnealingWarmRestarts(o, T_0=4, T_mult=2),
    "triangular": lambda o: CyclicLR(o, base_lr=0.1, max_lr=1.0, step_size_up=5, cycle_momentum=False),
    "staircase": lambda o: LambdaLR(o, lr_lambda=lambda s: 0.5 ** (s // 6)),
}

RAMP = " .:-=+*#%@"
for name, make in schedules.items():
    w = torch.nn.Parameter(torch.ones(1))
    opt = torch.optim.SGD([w], lr=1.0)
    sched = make(opt)
    lrs = []
    for _ in range(STEPS):
        lrs.append(opt.param_groups[0]["lr"])
        opt.step()
        sched.step()
    curve = "".join(RAMP[min(9, int(v * 9 + 0.501))] for v in lrs)
    print(f"{name:18s}|{curve}| first {lrs[0]:.3f} max {max(lrs):.3f} last {lrs[-1]:.3f} sum {sum(lrs):.3f}")

# does it matter? a badly conditioned quadratic with noisy gradients
curv = torch.tensor([1.0, 0.05])
for name in ("warm-up + cosine", "multi-step", "restarts"):
    torch.manual_seed(5)
    w = torch.nn.Parameter(torch.tensor([3.0, 3.0]))
    opt = torch.optim.SGD([w], lr=0.9)
    sched = schedules[name](opt)
    for _ in range(STEPS):
        opt.zero_grad()
        (0.5 * curv * w ** 2).sum().backward()
        w.grad += 0.3 * torch.randn(2)
        opt.step()
        sched.step()
    print(f"{name:18s} final w = {[round(v, 3) for v in w.tolist()]}")
