"""CUDA's own allocator in place of PyTorch's caching one: allocations come from a memory pool, which is trimmed at the end."""
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"
import torch  # noqa: E402
from marks import mark  # noqa: E402

assert torch.cuda.get_allocator_backend() == "cudaMallocAsync"
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
x = torch.randn(64, 256, device="cuda")
for _ in range(3):
    loss = net(x).square().mean()
    mark()
    loss.backward()
    mark()
    net.zero_grad()
del loss
torch.cuda.empty_cache()
mark()
print(sum(p.numel() for p in net.parameters()))
