"""Random numbers under vmap: other ones for each sample, or the same for all; dropout."""
import torch
import torch.nn.functional as F
from torch.func import vmap

x = torch.arange(12.0).view(3, 4)
for randomness in ("different", "same"):
    torch.manual_seed(9)
    print(vmap(lambda a: a + torch.randn(4), randomness=randomness)(x))
    print(vmap(lambda a: torch.rand_like(a), randomness=randomness)(x), vmap(lambda a: a.clone().normal_(), randomness=randomness)(x))
    print(vmap(lambda a: torch.randint(0, 5, (2,)), randomness=randomness)(x), vmap(lambda a: torch.randperm(4), randomness=randomness)(x))
    print(vmap(lambda a: F.dropout(a, 0.5), randomness=randomness)(x), vmap(lambda a: torch.bernoulli(torch.full((3,), 0.5)), randomness=randomness)(x))
print(vmap(lambda a: a * torch.rand(()), randomness="different", chunk_size=2)(x), vmap(lambda a: a * torch.rand(()), randomness="same", chunk_size=2)(x))
