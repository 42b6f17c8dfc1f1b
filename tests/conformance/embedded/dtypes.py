"""Types of elements: promotion, casts, factories, limits."""
import torch

i, f, d, b = torch.tensor([1, 2]), torch.tensor([0.5, 1.5]), torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([True, False])
print((i + f).dtype, (f + d).dtype, (i * 2.5).dtype, (b + i).dtype, (i / 2).dtype, (i // 2).dtype, (f > 1).dtype, torch.result_type(i, 1.0))
print(i.float(), f.long(), d.to(torch.int32), f.to(d.dtype), b.int(), f.bool(), i.type(), f.bfloat16().float(), i.to(f))
print(torch.zeros(2, dtype=torch.int64), torch.ones_like(f, dtype=torch.float64), torch.full((2,), 3), torch.full((2,), 3.0), torch.arange(0, 1, 0.25), torch.linspace(0, 1, 5), torch.eye(2))
print(torch.finfo(torch.float32).eps, torch.iinfo(torch.int64).max, f.dtype.is_floating_point, i.is_floating_point(), f.element_size(), f.type_as(d).dtype, torch.tensor(3).item() + 1)
print(torch.empty(2, 3).shape, f.new_zeros(2), i.new_tensor([5]), torch.tensor([[1, 2], [3, 4]]).tolist(), torch.as_tensor([1.0, 2]), torch.is_tensor(f), f.numel(), f.ndim)
