"""Semi-supervised node classification on two random communities with a graph convolutional network."""
import torch
from torch import nn
import torch.nn.functional as F


def two_communities(n=30, p_in=0.4, p_out=0.03):
    labels = (torch.arange(n) >= n // 2).long()
    same = labels[:, None] == labels[None, :]
    probs = torch.where(same, p_in, p_out)
    upper = torch.triu(torch.bernoulli(probs), diagonal=1)
    return upper + upper.T, labels


def normalise(adj):
    a = adj + torch.eye(adj.size(0))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class GCNLayer(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        self.bias = nn.Parameter(torch.zeros(fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, a_hat):
        return a_hat @ (x @ self.weight) + self.bias

    def extra_repr(self):
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}"


class GCN(nn.Module):
    def __init__(self, fin, hidden, classes):
        super().__init__()
        self.l1 = GCNLayer(fin, hidden)
        self.l2 = GCNLayer(hidden, classes)

    def forward(self, x, a_hat):
        h = F.dropout(F.relu(self.l1(x, a_hat)), 0.3, training=self.training)
        return F.log_softmax(self.l2(h, a_hat), dim=1)


torch.manual_seed(12)
adj, y = two_communities()
print("edges", int(adj.sum()) // 2, "mean degree %.3f" % adj.sum(1).mean())
x = torch.eye(adj.size(0))
a_hat = normalise(adj)
train_mask = torch.zeros(len(y), dtype=torch.bool)
train_mask[[0, 1, 28, 29]] = True

model = GCN(x.size(1), 8, 2)
print(model)
opt = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(51):
    model.train()
    opt.zero_grad()
    loss = F.nll_loss(model(x, a_hat)[train_mask], y[train_mask])
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(x, a_hat).argmax(1)
        acc = (pred == y)[~train_mask].float().mean().item()
        print(f"epoch {epoch:2d} loss {loss.item():.4f} test acc {acc:.3f}")
