# Graph convolution for semi-supervised node labels on a two-community graph, sparse and edge-list versions.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(34)
n = 24
label = (torch.arange(n) >= n // 2).long()
same = label[:, None] == label[None, :]
prob = torch.where(same, 0.4, 0.05)
upper = torch.triu(torch.rand(n, n) < prob, diagonal=1)
adj = (upper | upper.T).float()
print("edges:", int(upper.sum()), "degrees:", adj.sum(1).int().tolist())

# symmetric normalisation with self loops
A = adj + torch.eye(n)
d = A.sum(1).rsqrt()
A_hat = d[:, None] * A * d[None, :]
A_sp = A_hat.to_sparse()
print("sparse:", A_sp.layout, A_sp._nnz(), "values")

edge_index = A.nonzero().t().contiguous()
edge_w = A_hat[edge_index[0], edge_index[1]]


class GCNConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout, bias=False)
        self.bias = nn.Parameter(torch.zeros(cout))
        nn.init.xavier_normal_(self.lin.weight)

    def forward(self, x, a):
        return torch.sparse.mm(a, self.lin(x)) + self.bias

    def forward_edges(self, x, edge_index, w):
        h = self.lin(x)
        src, dst = edge_index
        out = torch.zeros(x.size(0), h.size(1))
        out.index_add_(0, dst, h[src] * w.unsqueeze(-1))
        return out + self.bias


class GCN(nn.Module):
    def __init__(self, cin, hid, cout):
        super().__init__()
        self.c1, self.c2 = GCNConv(cin, hid), GCNConv(hid, cout)

    def forward(self, x, a):
        h = F.dropout(F.relu(self.c1(x, a)), p=0.3, training=self.training)
        return F.log_softmax(self.c2(h, a), dim=-1)


X = torch.eye(n)
train_mask = torch.zeros(n, dtype=torch.bool)
train_mask[[0, 1, n - 2, n - 1]] = True
model = GCN(n, 8, 2)
opt = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-3)
for epoch in range(20):
    model.train()
    opt.zero_grad()
    out = model(X, A_sp)
    loss = F.nll_loss(out[train_mask], label[train_mask])
    loss.backward()
    opt.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    pred = model(X, A_sp).argmax(1)
    same_out = torch.allclose(model.c1(X, A_sp), model.c1.forward_edges(X, edge_index, edge_w), atol=1e-6)
print("edge list equals sparse:", same_out)
print("test acc %.3f" % (pred == label)[~train_mask].float().mean().item())

# softmax over incoming edges (as in GAT)
score = torch.randn(edge_index.size(1))
mx = torch.full((n,), -1e9).scatter_reduce(0, edge_index[1], score, "amax")
ex = (score - mx[edge_index[1]]).exp()
den = torch.zeros(n).scatter_add(0, edge_index[1], ex)
alpha = ex / den[edge_index[1]]
print("edge softmax sums:", torch.allclose(torch.zeros(n).index_add(0, edge_index[1], alpha), torch.ones(n)))

# pagerank by power iteration on the sparse matrix
Pt = (adj / adj.sum(1, keepdim=True).clamp(min=1)).t().to_sparse()
r = torch.full((n, 1), 1 / n)
for _ in range(30):
    r = 0.85 * torch.sparse.mm(Pt, r) + 0.15 / n
print("pagerank top:", r.flatten().topk(3).indices.tolist(), "max %.4f" % r.max())
print("components:", int((torch.linalg.eigvalsh(torch.diag(adj.sum(1)) - adj) < 1e-4).sum()))
