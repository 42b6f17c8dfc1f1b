"""Weights that stay orthogonal: each map, tall, wide and square, assigned to, trained for a step."""
import torch
from torch.nn.utils.parametrizations import orthogonal

torch.manual_seed(0)
for sizes in ((4, 4), (5, 3), (3, 5)):
    for chosen in ("matrix_exp", "cayley", "householder"):
        for trivial in (True, False):
            layer = torch.nn.Linear(*sizes)
            if trivial or chosen == "householder":
                orthogonal(layer, orthogonal_map=chosen, use_trivialization=trivial)
            else:
                continue
            w = layer.weight
            small = w if w.shape[0] <= w.shape[1] else w.mT
            print(sizes, chosen, trivial, torch.allclose(small @ small.mT, torch.eye(min(sizes)), atol=1e-5), type(layer).__name__)
            if chosen != "householder":
                layer(torch.ones(2, sizes[0])).pow(2).sum().backward()
                print(["%.2f" % abs(p.grad).sum() for p in layer.parameters()])
layer = orthogonal(torch.nn.Linear(3, 3))
layer.weight = torch.nn.init.orthogonal_(torch.empty(3, 3))
for bad in (lambda: orthogonal(torch.nn.Linear(2, 2), "biass"), lambda: orthogonal(torch.nn.Linear(2, 2), "bias"), lambda: orthogonal(torch.nn.Linear(2, 2), orthogonal_map="x")):
    try:
        bad()
    except ValueError as e:
        print(str(e)[:90])
