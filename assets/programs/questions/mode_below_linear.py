"""A TorchDispatchMode is asked to count calls of linear and sees none. Why?"""
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Count(TorchDispatchMode):
    seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.name())
        return func(*args, **(kwargs or {}))


w = torch.ones(3, 4, requires_grad=True)
with Count():
    torch.nn.functional.linear(torch.ones(2, 4), w, torch.zeros(3))
print(Count.seen)
