"""The worker is started under no_grad, and makes a graph all the same. Why?"""
import threading

import torch

w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    here = w * 2
    worker = threading.Thread(target=lambda: print((w * 2).requires_grad))
    worker.start()
    worker.join()
print(here.requires_grad)
