"""Predicts a made-up polarity of small random molecules with message passing written with index_add."""
from dataclasses import dataclass

import torch
from torch import nn, Tensor

torch.manual_seed(7)

ATOMS = ["C", "N", "O", "F"]
ELECTRONEG = torch.tensor([2.55, 3.04, 3.44, 3.98])


@dataclass
class Graph:
    atoms: Tensor       # [n] element index
    edges: Tensor       # [2, m], both directions
    target: float


@dataclass
class Batch:
    atoms: Tensor
    edges: Tensor
    owner: Tensor       # graph index of every atom
    target: Tensor


def random_molecule() -> Graph:
    n = int(torch.randint(4, 9, ()))
    atoms = torch.multinomial(torch.tensor([0.6, 0.15, 0.15, 0.1]), n, replacement=True)
    # random tree: each atom is bound to an earlier one
    parent = torch.tensor([int(torch.randint(0, i, ())) for i in range(1, n)])
    child = torch.arange(1, n)
    edges = torch.cat([torch.stack([parent, child]), torch.stack([child, parent])], dim=1)
    e = ELECTRONEG[atoms]
    polarity = (e[parent] - e[child]).abs().mean()
    return Graph(atoms, edges, float(polarity))


def collate(graphs: list[Graph]) -> Batch:
    sizes = torch.tensor([len(g.atoms) for g in graphs])
    shift = torch.cumsum(sizes, 0) - sizes
    return Batch(
        atoms=torch.cat([g.atoms for g in graphs]),
        edges=torch.cat([g.edges + s for g, s in zip(graphs, shift)], dim=1),
        owner=torch.repeat_interleave(torch.arange(len(graphs)), sizes),
        target=torch.tensor([g.target for g in graphs]),
    )


class MessageLayer(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU())
        self.upd = nn.GRUCell(dim, dim)

    def forward(self, h: Tensor, edges: Tensor) -> Tensor:
        src, dst = edges
        m = self.msg(torch.cat([h[src], h[dst]], dim=-1))
        agg = torch.zeros_like(h).index_add(0, dst, m)
        return self.upd(agg, h)


class GNN(nn.Module):
    def __init__(self, dim: int = 16, depth: int = 2):
        super().__init__()
        self.embed = nn.Embedding(len(ATOMS), dim)
        self.layers = nn.ModuleList(MessageLayer(dim) for _ in range(depth))
        self.read = nn.Linear(dim, 1)

    def forward(self, b: Batch) -> Tensor:
        h = self.embed(b.atoms)
        for layer in self.layers:
            h = layer(h, b.edges)
        n = len(b.target)
        pooled = torch.zeros(n, h.shape[1]).index_add_(0, b.owner, h)
        count = torch.bincount(b.owner, minlength=n).unsqueeze(1)
        return self.read(pooled / count).squeeze(-1)


train = collate([random_molecule() for _ in range(100)])
test = collate([random_molecule() for _ in range(30)])
print("atoms in train batch:", len(train.atoms), " directed bonds:", train.edges.shape[1])
model = GNN()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    loss = nn.functional.mse_loss(model(train), train.target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 0:
        print(f"step {step:2d} mse {loss.item():.5f}")
with torch.no_grad():
    pred = model(test)
    print(f"test mse {nn.functional.mse_loss(pred, test.target).item():.4f} "
          f"variance {test.target.var(correction=0).item():.4f}")
# renumbering atoms must not change the prediction
perm = torch.randperm(len(test.atoms))
inv = torch.argsort(perm)
shuffled = Batch(test.atoms[perm], inv[test.edges], test.owner[perm], test.target)
print("permutation invariant:", torch.allclose(model(shuffled), pred, atol=1e-5))
