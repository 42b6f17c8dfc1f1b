"""A view is written in place and PyTorch refuses. Where was the view made, and in which mode?"""
import torch

base = torch.ones(2, 3, requires_grad=True).clone()
with torch.no_grad():
    v = base[0]
try:
    v.mul_(2)
except RuntimeError as e:
    print(e)
