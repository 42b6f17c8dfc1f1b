"""Learning rates over ten steps under every schedule."""
import torch
from torch.optim import lr_scheduler as s

made = {"StepLR": lambda o: s.StepLR(o, 3), "MultiStepLR": lambda o: s.MultiStepLR(o, [2, 5], 0.5), "ConstantLR": lambda o: s.ConstantLR(o, 0.5, 3),
        "LinearLR": lambda o: s.LinearLR(o, 0.25, total_iters=4), "ExponentialLR": lambda o: s.ExponentialLR(o, 0.9), "LambdaLR": lambda o: s.LambdaLR(o, lambda e: 1 / (e + 1)),
        "CosineAnnealingLR": lambda o: s.CosineAnnealingLR(o, 4, 0.01), "PolynomialLR": lambda o: s.PolynomialLR(o, 5, 2.0),
        "WarmRestarts": lambda o: s.CosineAnnealingWarmRestarts(o, 3, 2), "OneCycleLR": lambda o: s.OneCycleLR(o, 1.0, total_steps=10),
        "Sequential": lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.5)], [3])}
for name, make in made.items():
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.4, momentum=0.9)
    schedule = make(optimizer)
    rates = []
    for _ in range(9):
        rates.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.step()
        schedule.step()
    print(name, rates)
plateau = s.ReduceLROnPlateau(torch.optim.SGD([w], lr=1.0), patience=1, factor=0.5)
for loss in (1.0, 0.9, 0.95, 0.93, 0.92, 0.2):
    plateau.step(loss)
    print(plateau.optimizer.param_groups[0]["lr"], end=" ")
