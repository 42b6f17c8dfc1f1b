"""What vmap refuses, in stock's words; tensors that escape; printing inside of transforms."""
import warnings

import torch
from torch.func import grad, vmap

torch.manual_seed(3)
x = torch.randn(3, 4)
kept = []


def escape(a):
    kept.append(a)
    return a


vmap(escape)(x)
grad(lambda a: (kept.append(a), a.sum())[1])(x[0])
cases = [lambda: vmap(lambda a: a.sum().item())(x), lambda: vmap(lambda a: a if a.sum() > 0 else -a)(x), lambda: vmap(lambda a: a.nonzero())(x),
         lambda: vmap(lambda a: a + torch.rand(4))(x), lambda: vmap(lambda a: torch.zeros(4).copy_(a))(x), lambda: vmap(lambda a: a[a > 0])(x),
         lambda: vmap(lambda a: a.requires_grad_())(x), lambda: vmap(lambda a: 1)(x), lambda: vmap(lambda a: a)(1), lambda: vmap(lambda a: a)(),
         lambda: vmap(lambda a, b: a, in_dims=(0,))(x, x), lambda: vmap(lambda a: a, in_dims=2)(x), lambda: vmap(lambda a, b: a + b)(x, x[:2]),
         lambda: vmap(lambda a: a, in_dims=None)(x), lambda: vmap(lambda a: a, in_dims="a")(x), lambda: vmap(lambda a: a, out_dims=(0, 1))(x),
         lambda: vmap(lambda a: a, out_dims=None)(x), lambda: vmap(lambda a: a, out_dims="0")(x), lambda: vmap(lambda a: a, randomness="some")(x),
         lambda: vmap(lambda a: a, chunk_size=0)(x), lambda: vmap(lambda a: torch.exp(a, out=torch.zeros(4)))(x), lambda: vmap(lambda a: torch.allclose(a, a))(x),
         lambda: vmap(lambda a: torch.equal(a, a))(x), lambda: vmap(lambda a: torch.zeros(4).index_put_((torch.tensor([0]),), a[:1]))(x),
         lambda: kept[0].sin(), lambda: kept[0] + 1, lambda: vmap(lambda a: a, in_dims=(0.5,))(x), lambda: vmap(lambda a: a, in_dims=0)([1.0])]
for case in cases:
    try:
        print(case())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])
print(kept[1], kept[1] + 1, kept[1].shape, kept[1].requires_grad)
vmap(lambda a: print(a) or a)(x)
grad(lambda a: print(a) or a.sum())(x[0])
vmap(grad(lambda a: print(a) or a.sum()))(x)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(vmap(lambda a: torch.histc(a, 4, -1, 1))(x), vmap(lambda a: a.clone().clamp_(0, 1))(x))
print([str(w.message).split(" (Triggered")[0] for w in told])
