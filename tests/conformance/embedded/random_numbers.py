"""Random numbers of every kind, by the process's generator and by others."""
import torch

torch.manual_seed(14)
print(torch.rand(2), torch.randn(3), torch.randint(0, 10, (4,)), torch.randint(5, (2,)), torch.randperm(5), torch.normal(0.0, 1.0, (2,)))
print(torch.bernoulli(torch.tensor([0.1, 0.9, 0.5])), torch.multinomial(torch.tensor([0.2, 0.5, 0.3]), 5, replacement=True), torch.multinomial(torch.ones(4), 2))
print(torch.empty(3).uniform_(-1, 1), torch.empty(2).normal_(1, 0.1), torch.empty(3).exponential_(), torch.empty(4).bernoulli_(0.5), torch.zeros(2).random_(10))
g = torch.Generator().manual_seed(42)
print(torch.rand(2, generator=g), torch.randn(20, generator=g).sum(), torch.randint(0, 9, (3,), generator=g), torch.randperm(4, generator=g), g.initial_seed())
g.manual_seed(42)
print(torch.rand(2, generator=g), torch.rand_like(torch.ones(2)), torch.randn_like(torch.ones(1)))
state = torch.get_rng_state()
first = torch.rand(1)
torch.set_rng_state(state)
print(torch.equal(first, torch.rand(1)))
w = torch.ones(3, requires_grad=True)
noise = w * torch.empty(3).uniform_()
noise.sum().backward()
print(w.grad)
