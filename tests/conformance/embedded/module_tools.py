"""Tools around modules: parametrizations, pruning, lazy layers, calls with other parameters, hooks of states."""
import copy

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils import parametrize, prune, parameters_to_vector, vector_to_parameters


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).t()

    def right_inverse(self, w):
        return w.triu()


torch.manual_seed(6)
layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
print(layer, parametrize.is_parametrized(layer, "weight"), [n for n, _ in layer.named_parameters()])
print(torch.equal(layer.weight, layer.weight.t()))
with parametrize.cached():
    layer(torch.ones(2, 3)).pow(2).sum().backward()
print(layer.parametrizations.weight.original.grad)
parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
print(layer, layer.weight)

net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
prune.l1_unstructured(net[0], "weight", amount=0.5)
prune.ln_structured(net[2], "weight", amount=1, n=2, dim=0)
print(net[0].weight_mask, net[2].weight_mask, [n for n, _ in net[0].named_buffers()], list(net.state_dict()))
net(torch.ones(1, 4)).sum().backward()
print(net[0].weight_orig.grad)
prune.remove(net[0], "weight")
print(prune.is_pruned(net), list(net.state_dict()))

lazy = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.ReLU())
print(lazy, lazy[0].weight)
print(lazy(torch.arange(6.0).view(2, 3)), lazy)

plain = nn.Linear(2, 2)
zeros = {"weight": torch.zeros(2, 2, requires_grad=True)}
print(functional_call(plain, zeros, (torch.ones(1, 2),)), plain.bias)
vector = parameters_to_vector(plain.parameters())
vector_to_parameters(torch.arange(6.0), plain.parameters())
print(vector.shape, plain.weight, plain.bias)

twin = copy.deepcopy(plain).double()
print(twin.load_state_dict({"weight": torch.ones(2, 2)}, strict=False), twin.weight)
for wrong in ({"weight": torch.ones(3, 2), "bias": torch.ones(2)}, {"weight": torch.ones(2, 2), "other": torch.ones(1)}):
    try:
        plain.load_state_dict(wrong)
    except RuntimeError as e:
        print(e)
plain.register_load_state_dict_post_hook(lambda m, keys: print("loaded", keys))
plain._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.setdefault(prefix + "bias", torch.zeros(2)))
plain.load_state_dict({"weight": torch.ones(2, 2)})
handle = plain.register_forward_hook(lambda m, args, kwargs, out: out * 2, with_kwargs=True)
plain.register_full_backward_hook(lambda m, ins, outs: print("backward", ins, outs))
plain(torch.ones(1, 2)).sum().backward()
handle.remove()
print(plain.get_parameter("weight") is plain.weight, plain.extra_repr(), plain.requires_grad_(False).weight.requires_grad)
print(nn.ModuleDict({"a": nn.Identity(), "b": nn.ParameterList([torch.ones(1)])}))
