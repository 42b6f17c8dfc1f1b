"""An ensemble of models as one call: stack_module_state, then vmap over the parameters; trained with an optimizer."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(6)
models = [nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)) for _ in range(3)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
print({k: (tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in params.items()}, buffers)


def predict(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


x, t = torch.randn(5, 4), torch.randn(5, 2)
out = vmap(predict, in_dims=(0, 0, None))(params, buffers, x)
print(out.shape, all(torch.allclose(out[i], m(x), atol=1e-5) for i, m in enumerate(models)))
optimizer = torch.optim.SGD(params.values(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = F.mse_loss(vmap(predict, in_dims=(0, 0, None))(params, buffers, x), t.expand(3, 5, 2))
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
minibatches = torch.randn(3, 5, 4)
print(vmap(predict)(params, buffers, minibatches).shape)
for wrong in ([], [nn.Linear(1, 1), nn.ReLU()], [nn.Linear(1, 1), nn.Linear(1, 1).eval()]):
    try:
        stack_module_state(wrong)
    except RuntimeError as e:
        print(e)
