"""A variational autoencoder, two steps."""
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.mu, self.logvar = nn.Linear(12, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.decode = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 12), nn.Sigmoid())

    def forward(self, x):
        h = F.relu(self.hidden(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


torch.manual_seed(18)
model, data = VAE(), torch.rand(6, 12)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(2):
    out, mu, logvar = model(data)
    loss = F.binary_cross_entropy(out, data, reduction="sum") - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.3f}")
print(model)
