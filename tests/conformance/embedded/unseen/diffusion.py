"""A diffusion model's forward process and one step of its training."""
import torch
import torch.nn as nn

torch.manual_seed(16)
T = 10
betas = torch.linspace(1e-4, 0.2, T)
alphas_bar = torch.cumprod(1 - betas, dim=0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 8)
        self.net = nn.Sequential(nn.Linear(2 + 8, 16), nn.SiLU(), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=-1))


model = Denoiser()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = torch.randn(12, 2)
for _ in range(2):
    t = torch.randint(0, T, (12,))
    noise = torch.randn_like(data)
    ab = alphas_bar[t].unsqueeze(1)
    noisy = ab.sqrt() * data + (1 - ab).sqrt() * noise
    loss = nn.functional.mse_loss(model(noisy, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
x = torch.randn(3, 2)
with torch.no_grad():
    for i in reversed(range(T)):
        eps = model(x, torch.full((3,), i))
        x = (x - betas[i] / (1 - alphas_bar[i]).sqrt() * eps) / (1 - betas[i]).sqrt()
        if i > 0:
            x += betas[i].sqrt() * torch.randn_like(x)
print(x)
