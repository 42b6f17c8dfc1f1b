"""A program that uses PyTorch's profiler with CUDA by itself, between work that it doesn't profile."""
import torch
from torch.profiler import ProfilerActivity, profile

a = torch.randn(256, 256, device="cuda")
for _ in range(3):
    a.mul(1.5)
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    for _ in range(5):
        a @ a
    torch.cuda.synchronize()
for _ in range(2):
    a.add(1)
torch.cuda.synchronize()
print("profiled", sum(e.count for e in p.key_averages() if e.key == "aten::mm"))
