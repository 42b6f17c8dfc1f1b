"""Use parametrizations (symmetric, spectral norm, weight norm) and magnitude pruning on linear layers."""
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
import torch.nn.utils.prune as prune
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


class Positive(nn.Module):
    def forward(self, x):
        return torch.nn.functional.softplus(x)


torch.manual_seed(0)

layer = nn.Linear(4, 4)
parametrize.register_parametrization(layer, "weight", Symmetric())
print("symmetric:", torch.allclose(layer.weight, layer.weight.T))
print("parameters:", [n for n, _ in layer.named_parameters()])
parametrize.register_parametrization(layer, "bias", Positive())
print("bias positive:", bool((layer.bias > 0).all()))

opt = torch.optim.SGD(layer.parameters(), lr=0.1)
x, target = torch.randn(20, 4), torch.randn(20, 4)
for _ in range(20):
    opt.zero_grad()
    loss = (layer(x) - target).pow(2).mean()
    loss.backward()
    opt.step()
print("loss %.4f still symmetric: %s" % (loss.item(), torch.allclose(layer.weight, layer.weight.T)))
parametrize.remove_parametrizations(layer, "weight")
print("after removal:", type(layer.weight).__name__, parametrize.is_parametrized(layer, "weight"))

sn = spectral_norm(nn.Linear(6, 6), n_power_iterations=30)
print("spectral norm %.2f" % torch.linalg.matrix_norm(sn.weight, 2).item())
ort = orthogonal(nn.Linear(5, 5))
print("orthogonal:", torch.allclose(ort.weight @ ort.weight.T, torch.eye(5), atol=1e-5))
wn = weight_norm(nn.Linear(3, 2))
print("weight norm keeps rows:", torch.allclose(wn.weight.norm(dim=1), wn.parametrizations.weight.original0.squeeze(), atol=1e-5))

model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5))
prune.l1_unstructured(model[0], "weight", amount=0.3)
prune.ln_structured(model[2], "weight", amount=0.4, n=2, dim=0)
for i in (0, 2):
    w = model[i].weight
    print(f"layer {i}: sparsity {(w == 0).float().mean().item():.2f} buffers {[n for n, _ in model[i].named_buffers()]}")
print("zero rows:", int((model[2].weight.abs().sum(1) == 0).sum()))
prune.global_unstructured([(model[0], "weight"), (model[2], "weight")], prune.L1Unstructured, amount=0.5)
for i in (0, 2):
    prune.remove(model[i], "weight")
print("zeros total:", sum(int((model[i].weight == 0).sum()) for i in (0, 2)), "of", 300)
