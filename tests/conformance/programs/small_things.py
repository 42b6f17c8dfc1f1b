"""What everyday scripts do: printing tensors, indexing, random numbers, linear algebra, einsum, serialization, default dtype, strings and scalars."""
import copy
import pickle

import torch

torch.manual_seed(13)
generator = torch.Generator().manual_seed(1)
x = torch.rand(3, 4, generator=generator)
print(x, x[1, ::2], x.mean(), x.to(torch.float16), sep="\n")
print(torch.einsum("ij,kj->ik", x, x).tolist())
print(torch.linalg.svd(x)[1].tolist(), torch.linalg.solve(x @ x.t() + torch.eye(3), torch.ones(3)).tolist())
print(torch.sort(x.flatten(), descending=True).indices.tolist(), torch.topk(x, 2).values.tolist(), x.argmax().item())
print(torch.where(x > 0.5, x, torch.zeros(())).tolist(), torch.allclose(x, x + 1e-9), torch.equal(x, x.clone()))
print(pickle.loads(pickle.dumps(x)).tolist() == x.tolist(), copy.deepcopy(x).sum().item().hex())
torch.set_default_dtype(torch.float64)
print(torch.tensor(1.5).dtype, torch.linspace(0, 1, 3).tolist(), torch.tensor([1, 2]).float().dtype)
torch.set_default_dtype(torch.float32)
print(torch.randperm(5).tolist(), torch.multinomial(torch.ones(4), 2).tolist(), torch.bernoulli(torch.full((3,), 0.5)).tolist())
print(torch.nn.functional.interpolate(torch.arange(4.0).view(1, 1, 4), scale_factor=2.0, mode="linear").tolist())
print(torch.quantize_per_tensor(torch.tensor([0.1, 0.9]), 0.1, 0, torch.quint8).dequantize().tolist())
print(torch._foreach_add([torch.ones(1), torch.ones(2)], 2.0)[1].tolist())
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
print(nested.to_padded_tensor(0.0).tolist())
script = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()))
print(script(torch.ones(1, 2)).shape)
