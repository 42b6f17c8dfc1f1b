"""Vector quantized autoencoder with straight-through gradients and an exponential moving average codebook."""
import torch
from torch import nn
import torch.nn.functional as F


class VectorQuantizerEMA(nn.Module):
    def __init__(self, n_codes, dim, decay=0.9, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        embed = torch.randn(n_codes, dim)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.ones(n_codes))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, z):
        dist = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.embed.T + self.embed.pow(2).sum(1)
        idx = dist.argmin(dim=1)
        q = F.embedding(idx, self.embed)
        if self.training:
            onehot = F.one_hot(idx, len(self.embed)).type_as(z)
            with torch.no_grad():
                self.cluster_size.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
                self.embed_avg.mul_(self.decay).add_(onehot.T @ z, alpha=1 - self.decay)
                n = self.cluster_size.sum()
                size = (self.cluster_size + self.eps) / (n + len(self.embed) * self.eps) * n
                self.embed.copy_(self.embed_avg / size.unsqueeze(1))
        commit = F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        probs = torch.bincount(idx, minlength=len(self.embed)).float() / len(idx)
        perplexity = torch.exp(-(probs * torch.log(probs + 1e-10)).sum())
        return q, commit, perplexity, idx


class VQAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))
        self.vq = VectorQuantizerEMA(16, 4)
        self.dec = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 12))

    def forward(self, x):
        q, commit, ppl, idx = self.vq(self.enc(x))
        return self.dec(q), commit, ppl, idx


torch.manual_seed(3)
prototypes = torch.randn(6, 12) * 1.5
model = VQAE()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 121):
    label = torch.randint(0, 6, (64,))
    x = prototypes[label] + 0.2 * torch.randn(64, 12)
    recon, commit, ppl, idx = model(x)
    rec = F.mse_loss(recon, x)
    loss = rec + 0.25 * commit
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"step {step}: rec {rec.item():.3f} commit {commit.item():.3f} perplexity {ppl.item():.2f}")

model.eval()
with torch.no_grad():
    label = torch.arange(6).repeat_interleave(20)
    x = prototypes[label] + 0.2 * torch.randn(120, 12)
    idx = model(x)[3]
joint = torch.zeros(16, 6)
joint.index_put_((idx, label), torch.ones(120), accumulate=True)
print("purity of codes %.2f" % (joint.amax(1).sum() / 120).item())
print("buffers:", sorted(n for n, _ in model.named_buffers()))
