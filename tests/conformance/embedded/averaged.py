"""Averaged weights, schedules one after another, hooks of optimizers."""
import torch
from torch import nn
from torch.optim import swa_utils
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

torch.manual_seed(2)
x = torch.randn(16, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
averaged = swa_utils.AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
schedule = SequentialLR(optimizer, [LinearLR(optimizer, 0.5, total_iters=2), CosineAnnealingLR(optimizer, 4)], milestones=[2])
before = optimizer.register_step_pre_hook(lambda o, args, kwargs: print("before", o.param_groups[0]["lr"]))
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    schedule.step()
    if step > 1:
        averaged.update_parameters(net)
    print(step, loss, schedule.get_last_lr())
before.remove()
swa_utils.update_bn([x[:8], x[8:]], averaged)
print(averaged.n_averaged, averaged(x)[:2], averaged.module[1].running_mean)
swa = swa_utils.SWALR(optimizer, swa_lr=0.01, anneal_epochs=2)
for _ in range(3):
    swa.step()
    print(swa.get_last_lr())
