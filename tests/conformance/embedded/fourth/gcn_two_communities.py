"""Semi-supervised node classification with a two layer graph convolutional network on a block model graph."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def stochastic_block_model(sizes, p_in, p_out):
    labels = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    n = len(labels)
    prob = torch.where(labels[:, None] == labels[None], p_in, p_out)
    upper = torch.triu((torch.rand(n, n) < prob).float(), diagonal=1)
    return upper + upper.T, labels


def normalize(adj):
    a = adj + torch.eye(adj.size(0))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class GraphConv(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        self.bias = nn.Parameter(torch.zeros(fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.spmm(adj, x @ self.weight) + self.bias

    def extra_repr(self):
        return f"{self.weight.shape[0]} -> {self.weight.shape[1]}"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConv(nfeat, nhid)
        self.gc2 = GraphConv(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        return self.gc2(x, adj)


torch.manual_seed(4)
adj, labels = stochastic_block_model([30, 30, 30], 0.25, 0.03)
print("nodes", len(labels), "edges", int(adj.sum().item() / 2), "mean degree %.2f" % adj.sum(1).mean().item())
A = normalize(adj).to_sparse()
x = torch.randn(90, 8)
train_idx = torch.cat([torch.where(labels == c)[0][:4] for c in range(3)])
test_mask = torch.ones(90, dtype=torch.bool)
test_mask[train_idx] = False

model = GCN(8, 16, 3, 0.3)
print(model)
opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-3)
for epoch in range(1, 61):
    model.train()
    opt.zero_grad()
    out = model(x, A)
    loss = F.cross_entropy(out[train_idx], labels[train_idx])
    loss.backward()
    opt.step()
    if epoch % 20 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(x, A).argmax(1)
        acc = (pred[test_mask] == labels[test_mask]).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.3f} test accuracy {acc:.3f}")
