"""Under vmap an operator without a batching rule loops, and writing into a tensor that is not batched fails."""
import warnings

import torch

warnings.filterwarnings("ignore", message=".*batching rule")
x = torch.arange(12.0).view(3, 4)
print(torch.vmap(lambda t: torch.histc(t, 4, 0, 12))(x).shape)
out = torch.zeros(4)
try:
    torch.vmap(lambda t: out.copy_(t))(x)
except RuntimeError as e:
    print(str(e).split(" because")[0])
