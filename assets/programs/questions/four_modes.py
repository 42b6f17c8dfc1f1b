"""One body under four modes: what differs in layers, and what only in the nodes that are made?"""
import torch

w = torch.ones(3, 4, requires_grad=True)


def body(t):
    t = t.view(2, 4)
    t.add_(1)
    return torch.nn.functional.linear(t.exp(), w)


outside = torch.ones(8)
body(torch.ones(8))
with torch.no_grad():
    body(torch.ones(8))
with torch.inference_mode():
    body(torch.ones(8))
    body(outside)
