"""Operators on several threads: each has its own modes, its own nodes' numbers and its own part of the recording."""
import threading

import torch

weight = torch.ones(2, 2) * 0.5
weight = weight.detach().requires_grad_()
results = {}


def work(name, scale):
    with torch.no_grad():
        quiet = (weight * scale).requires_grad
    results[name] = (quiet, (weight * scale).exp().sum().item(), torch.is_grad_enabled())


for i in range(2):
    thread = threading.Thread(target=work, args=("t%d" % i, 0.5 + i), name="t%d" % i)
    thread.start()
    thread.join()
with torch.no_grad():
    work("main", 3.0)
print(sorted(results.items()))
