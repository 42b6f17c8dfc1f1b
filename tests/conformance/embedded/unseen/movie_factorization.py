# Matrix factorisation recommender with biases, sparse embedding gradients and recall@k.
import torch
from torch import nn

torch.manual_seed(11)
n_users, n_items, rank = 20, 15, 3

# ground truth low-rank ratings, 40% observed
U = torch.randn(n_users, rank)
I = torch.randn(n_items, rank)
R = (3 + U @ I.T * 0.7).clamp(1, 5).round()
observed = torch.rand(n_users, n_items) < 0.4
print("ratings:", observed.sum().item(), "density %.2f" % observed.float().mean())
print(R[:5])

rows, cols = observed.nonzero(as_tuple=True)
vals = R[rows, cols]
perm = torch.randperm(len(vals))
n_train = int(0.85 * len(vals))
tr, te = perm[:n_train], perm[n_train:]


class MF(nn.Module):
    def __init__(self, mean):
        super().__init__()
        self.p = nn.Embedding(n_users, 8, sparse=True)
        self.q = nn.Embedding(n_items, 8, sparse=True)
        self.bu = nn.Embedding(n_users, 1, sparse=True)
        self.bi = nn.Embedding(n_items, 1, sparse=True)
        self.register_buffer("mean", mean)
        for e in (self.p, self.q):
            nn.init.uniform_(e.weight, -0.1, 0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        dot = (self.p(u) * self.q(i)).sum(-1)
        return dot + self.bu(u).squeeze(-1) + self.bi(i).squeeze(-1) + self.mean


model = MF(vals[tr].mean())
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
mse = nn.MSELoss()

for epoch in range(5):
    total, order = 0.0, tr[torch.randperm(n_train)]
    for b in order.split(48):
        opt.zero_grad()
        loss = mse(model(rows[b], cols[b]), vals[b])
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    with torch.no_grad():
        rmse = mse(model(rows[te], cols[te]), vals[te]).sqrt()
    print(f"epoch {epoch} train mse {total / n_train:.4f} test rmse {rmse.item():.4f}")

print("sparse grad:", model.p.weight.grad.is_sparse, model.p.weight.grad.coalesce().indices().shape)

with torch.no_grad():
    full = model.p.weight @ model.q.weight.t() + model.bu.weight + model.bi.weight.t() + model.mean
    seen = torch.zeros_like(observed)
    seen[rows[tr], cols[tr]] = True
    full = full.masked_fill(seen, float("-inf"))
    top = full.topk(3, dim=1)
for u in range(4):
    recs = ", ".join(f"{i}({s:.2f})" for i, s in zip(top.indices[u].tolist(), top.values[u].tolist()))
    print(f"user {u}: {recs}")
hits = (top.indices.unsqueeze(-1) == R.masked_fill(seen, 0).topk(3, 1).indices.unsqueeze(1)).any(-1).float()
print("recall@3 %.3f" % hits.mean().item())
sim = nn.functional.cosine_similarity(model.q.weight[0:1], model.q.weight, dim=1)
print("items most like item 0:", sim.argsort(descending=True)[1:4].tolist())
