# Graph convolution network with a sparse normalised adjacency on a small two-community graph.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N = 20
block = torch.arange(N) // 10
p_edge = torch.where(block[:, None] == block[None, :], 0.5, 0.06)
A = torch.bernoulli(p_edge).triu(1)
A = A + A.T
print("edges:", int(A.sum().item()) // 2, "degrees:", A.sum(1).int().tolist())

# D^-1/2 (A + I) D^-1/2 as a COO tensor
edge_index = (A + torch.eye(N)).nonzero().t()
row, col = edge_index
deg = torch.zeros(N).index_add(0, row, torch.ones(row.numel()))
dinv = deg.pow(-0.5)
values = dinv[row] * dinv[col]
adj = torch.sparse_coo_tensor(edge_index, values, (N, N)).coalesce()
print("nnz:", adj._nnz(), "is_sparse:", adj.is_sparse, "shape:", tuple(adj.shape))
print("row 0:", adj.to_dense()[0].nonzero().flatten().tolist())


class GCNLayer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1, self.g2 = GCNLayer(N, 16), GCNLayer(16, 2)

    def forward(self, x, adj):
        h = F.dropout(F.relu(self.g1(x, adj)), p=0.2, training=self.training)
        return F.log_softmax(self.g2(h, adj), dim=1)


x = torch.eye(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[[0, 5, 12, 17]] = True

net = GCN()
opt = torch.optim.Adam(net.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(20):
    net.train()
    out = net(x, adj)
    loss = F.nll_loss(out[train_mask], block[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            pred = net(x, adj).argmax(dim=1)
        acc = (pred[~train_mask] == block[~train_mask]).double().mean().item()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, test acc {acc:.4f}")

conf = torch.zeros(2, 2, dtype=torch.long)
conf.index_put_((block, pred), torch.ones(N, dtype=torch.long), accumulate=True)
print("confusion:\n", conf, sep="")
