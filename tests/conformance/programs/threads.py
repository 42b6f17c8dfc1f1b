"""Operators on several threads: plain threads, a pool, a backward on a thread of its own, and threads that start threads."""
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

torch.manual_seed(11)
weight = torch.randn(4, 4, requires_grad=True)
results = {}


def inner(name, x):
    with torch.no_grad():
        results[name] = (x @ weight).exp().sum().item().hex()


def work(name, scale):
    x = torch.full((2, 4), scale)
    thread = threading.Thread(target=inner, args=(name + ".inner", x), name=name + ".inner")
    thread.start()
    loss = (x @ weight).sin().sum()
    (gradient,) = torch.autograd.grad(loss, weight)
    thread.join()
    results[name] = gradient.tolist()


threads = [threading.Thread(target=work, args=("t%d" % i, 0.1 * i), name="t%d" % i) for i in range(3)]
for thread in threads:
    thread.start()
work("main", 1.0)
for thread in threads:
    thread.join()
with ThreadPoolExecutor(1) as pool:
    results["pool"] = list(pool.map(lambda n: torch.arange(n).sum().item(), (3, 4, 5)))
print(sorted(results.items()))
