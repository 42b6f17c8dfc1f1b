"""Denoise sine waves with a 1D convolutional autoencoder."""
import torch
import torch.nn as nn

torch.manual_seed(5)

LENGTH = 32
t = torch.linspace(0, 6.28, LENGTH)


def batch(n):
    freq = torch.rand(n, 1) * 2 + 0.5
    phase = torch.rand(n, 1) * 6.28
    clean = torch.sin(freq * t + phase).unsqueeze(1)
    noisy = clean + 0.3 * torch.randn_like(clean)
    return noisy, clean


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = ConvAE()
x, y = batch(2)
print("code shape", model.encoder(x).shape, "output shape", model(x).shape)

opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 101):
    noisy, clean = batch(32)
    loss = nn.functional.mse_loss(model(noisy), clean)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(f"step {step}: {loss.item():.4f}")

with torch.inference_mode():
    noisy, clean = batch(64)
    before = (noisy - clean).pow(2).mean()
    after = (model(noisy) - clean).pow(2).mean()
print(f"noise mse before {before:.3f} after {after:.3f}")
