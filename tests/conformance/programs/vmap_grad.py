"""torch.func: per-sample gradients by vmap(grad), jvp, jacrev, hessian, vmap over an in-place body, nested vmap, functionalize."""
import torch
from torch.func import functional_call, functionalize, grad, hessian, jacrev, jvp, vmap

torch.manual_seed(3)
net = torch.nn.Linear(3, 2)
params = {k: v.detach() for k, v in net.named_parameters()}
x, y = torch.randn(4, 3), torch.randn(4, 2)


def loss(params, x, y):
    return (functional_call(net, params, (x,)) - y).pow(2).mean()


per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
print({k: v.tolist() for k, v in per_sample.items()})

f = lambda v: (v.sin() * v).sum()
v = torch.randn(3)
print(grad(grad(lambda s: s.sin() * s))(torch.tensor(0.5)).item().hex())
print([t.tolist() for t in jvp(f, (v,), (torch.ones(3),))])
print(jacrev(lambda v: v.exp() * v[0])(v).tolist())
print(hessian(f)(v).tolist())


def inplace(v):
    out = v.clone()
    out[0] = 7
    out.mul_(2)
    return out


print(vmap(inplace)(x).tolist())
print(vmap(vmap(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(v, x[:, 0]).tolist())
print(functionalize(inplace)(v).tolist())
print(vmap(lambda v: torch.histc(v, bins=4, min=-2.0, max=2.0))(x).tolist())  # no batching rule: the fallback loops
torch.manual_seed(4)
print(vmap(lambda v: v + torch.randn(3), randomness="different")(x).tolist())
