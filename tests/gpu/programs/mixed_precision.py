"""Autocast and a gradient scaler."""
import torch
from marks import mark

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cuda")
for _ in range(3):
    x = torch.randn(32, 64, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(x).float().pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    mark()
print(torch.isfinite(loss).item())
