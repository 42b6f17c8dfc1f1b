"""A mixture-of-experts layer with top-2 routing and a load-balancing loss, watched while it trains."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TopKMoE(nn.Module):
    def __init__(self, dim: int, hidden: int, n_experts: int = 4, k: int = 2):
        super().__init__()
        self.k, self.n = k, n_experts
        self.router = nn.Linear(dim, n_experts, bias=False)
        # all experts in two big parameters
        self.w_in = nn.Parameter(torch.randn(n_experts, dim, hidden) * dim ** -0.5)
        self.w_out = nn.Parameter(torch.randn(n_experts, hidden, dim) * hidden ** -0.5)

    def route(self, x):
        probs = self.router(x).softmax(-1)
        top_p, top_i = probs.topk(self.k, dim=-1)
        return probs, top_p / top_p.sum(-1, keepdim=True), top_i

    def forward(self, x):
        probs, gate, idx = self.route(x)
        out = torch.zeros_like(x)
        for e in range(self.n):
            token, slot = torch.where(idx == e)
            if token.numel() == 0:
                continue
            y = F.gelu(x[token] @ self.w_in[e]) @ self.w_out[e]
            out.index_add_(0, token, y * gate[token, slot].unsqueeze(-1))
        load = F.one_hot(idx, self.n).float().sum(1).mean(0) / self.k
        self.aux = self.n * (load * probs.mean(0)).sum()      # is 1 when balanced
        self.load = load.detach()
        return out

    def dense_reference(self, x):
        """Compute every expert on every token, then combine. Slow and obviously right."""
        _, gate, idx = self.route(x)
        weights = torch.zeros(len(x), self.n).scatter(1, idx, gate)
        every = torch.einsum("teh,ehd->ted", F.gelu(torch.einsum("td,edh->teh", x, self.w_in)), self.w_out)
        return torch.einsum("te,ted->td", weights, every)


class Net(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.norm = nn.LayerNorm(dim)
        self.moe = TopKMoE(dim, 2 * dim)
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.embed(x)
        h = h + self.moe(self.norm(h))
        return self.head(h).squeeze(-1)


def target(x):
    # a different function in each quadrant
    a, b = x.unbind(-1)
    return torch.where(a > 0, torch.where(b > 0, a * b, torch.sin(3 * a)), torch.where(b > 0, b - 1, -a))


for aux_weight in (0.0, 0.05):
    torch.manual_seed(21)
    net = Net()
    x = torch.randn(256, 2)
    y = target(x)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(40):
        pred = net(x)
        mse = F.mse_loss(pred, y)
        loss = mse + aux_weight * net.moe.aux
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"aux weight {aux_weight:.2f}: mse {mse.item():.4f}  aux {net.moe.aux.item():.3f}  "
          f"load {[round(v, 2) for v in net.moe.load.tolist()]}")

with torch.no_grad():
    h = torch.randn(33, 16)
    a, b = net.moe(h), net.moe.dense_reference(h)
print("sparse dispatch equals dense reference:", torch.allclose(a, b, atol=1e-5), f"(norm {a.norm().item():.3f})")
