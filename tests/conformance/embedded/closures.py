"""LBFGS with a closure; chained and cyclic schedules; groups of parameters."""
import torch
from torch import nn
from torch.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR, OneCycleLR, ReduceLROnPlateau

torch.manual_seed(2)
x = torch.randn(16, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1
fit = nn.Linear(3, 1)
lbfgs = torch.optim.LBFGS(fit.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = nn.functional.mse_loss(fit(x), y)
    loss.backward()
    return loss


for _ in range(3):
    print(lbfgs.step(closure))
print(fit.weight, fit.bias)

one = torch.optim.AdamW([{"params": [fit.weight], "lr": 0.1}, {"params": [fit.bias]}], lr=0.01)
for make in (lambda: OneCycleLR(one, [0.2, 0.02], total_steps=4), lambda: ChainedScheduler([ConstantLR(one, 0.5, 2), ExponentialLR(one, 0.9)])):
    schedule = make()
    for _ in range(3):
        closure()
        one.step()
        schedule.step()
    print(schedule.get_last_lr(), one.param_groups[0]["betas"])
plateau = ReduceLROnPlateau(one, patience=1, factor=0.1)
for value in (1.0, 1.0, 1.0, 1.0):
    plateau.step(value)
print(plateau.get_last_lr(), plateau.num_bad_epochs)
print(one)
