"""A model built on the device "meta" without memory, initialised there in name only, and made real in both ways."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width, bias=False)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x)))) * self.scale


class Model(nn.Module):
    def __init__(self, words=20, width=8):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(2)])
        self.head = nn.Linear(width, words)

    def forward(self, i):
        x = self.embed(i)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def described(module):
    for name, t in [*module.named_parameters(), *module.named_buffers()]:
        print(name, tuple(t.shape), t.stride(), t.dtype, t.device, t.requires_grad)


with torch.device("meta"):
    model = Model()
described(model)
print("parameters", sum(p.numel() for p in model.parameters()))

for p in model.parameters():
    if p.dim() == 2:
        nn.init.xavier_uniform_(p)
        nn.init.kaiming_normal_(p)
        nn.init.trunc_normal_(p)
        nn.init.orthogonal_(p)
    else:
        nn.init.zeros_(p)

for like in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like, torch.randn_like):
    made = like(model.head.weight)
    print(like.__name__, tuple(made.shape), made.stride(), made.dtype, made.device)
w = model.head.weight.detach().t()
print("of a transpose", torch.empty_like(w).stride(), torch.empty_like(w, memory_format=torch.contiguous_format).stride(), torch.zeros_like(w, dtype=torch.int64).dtype)
for made in (w.new_empty(2, 3), w.new_zeros(4), w.new_ones(2, dtype=torch.int32), w.new_full((2, 2), 1.5), torch.full((2,), 3, device="meta"), torch.arange(2, 9, 3, device="meta"),
             torch.eye(3, device="meta"), torch.linspace(0, 1, 5, device="meta")):
    print(tuple(made.shape), made.stride(), made.dtype, made.device)

try:
    model.to("cpu")
except NotImplementedError as error:
    print(error)

torch.manual_seed(0)
whole = Model()
model.load_state_dict(whole.state_dict(), assign=True)
described(model)
ids = torch.tensor([[1, 2, 3], [4, 5, 6]])
print(torch.equal(model(ids), whole(ids)))

with torch.device("meta"):
    other = Model()
other = other.to_empty(device="cpu")
with torch.no_grad():
    for mine, theirs in zip([*other.parameters(), *other.buffers()], [*whole.parameters(), *whole.buffers()]):
        mine.copy_(theirs)
print(torch.equal(other(ids), whole(ids)))
