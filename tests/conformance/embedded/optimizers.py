"""SGD with momentum, weight decay and Nesterov; gradients zeroed and dropped; a schedule; a closure."""
import torch
from torch import nn

torch.manual_seed(4)
x = torch.randn(16, 4)
target = x.sum(1, keepdim=True)
for options in ({"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, {"weight_decay": 0.01, "maximize": False}):
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for step in range(3):
        optimizer.zero_grad(set_to_none=step != 1)
        loss = nn.functional.mse_loss(net(x), target)
        loss.backward()
        optimizer.step()
        schedule.step()
    print(loss.item(), optimizer.param_groups[0]["lr"], net.weight.grad.sum().item(), len(optimizer.state))


def closure():
    optimizer.zero_grad()
    out = nn.MSELoss(reduction="sum")(net(x), target)
    out.backward()
    return out


print(optimizer.step(closure).item())
