"""Writing into one part of what unbind gave is refused. Which call made that part?"""
import torch

rows = torch.ones(2, 3, requires_grad=True).clone().unbind(0)
try:
    rows[0].mul_(2)
except RuntimeError as e:
    print(str(e).split(".")[0])
