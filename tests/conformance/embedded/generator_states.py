"""The state of a generator as a tensor: kept, set again, saved to a file; generators of a program's own."""
import io

import torch

for wrong in ([1], torch.ones(3), torch.tensor([1, 2, 3], dtype=torch.uint8)):
    try:
        torch.set_rng_state(wrong)
    except (RuntimeError, TypeError) as e:
        print(type(e).__name__, e)
torch.manual_seed(3)
torch.randn(3)
state = torch.get_rng_state()
print(type(state).__name__, state.dtype, state.shape, state.device, sum(state.tolist()), state.tolist()[:40], state.tolist()[-40:])
first = torch.randn(5), torch.rand(2), torch.initial_seed()
torch.manual_seed(9)
torch.set_rng_state(state)
second = torch.randn(5), torch.rand(2), torch.initial_seed()
print(torch.equal(first[0], second[0]), torch.equal(first[1], second[1]), first[2], second[2])
file = io.BytesIO()
torch.save({"rng": state}, file)
file.seek(0)
torch.set_rng_state(torch.load(file)["rng"])
print(torch.equal(torch.randn(5), first[0]))
g, h = torch.Generator().manual_seed(5), torch.Generator()
h.set_state(g.get_state())
print(torch.rand(2, generator=g), torch.rand(2, generator=h), h.initial_seed())
k = g.clone_state()
print(torch.rand(1, generator=k), torch.rand(1, generator=g))
with torch.random.fork_rng():
    torch.manual_seed(1)
    print(torch.rand(1))
print(torch.rand(1))
