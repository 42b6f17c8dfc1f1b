"""Autocast on the CPU: types of results, a step of training."""
import torch
from torch import nn

torch.manual_seed(24)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
for step in range(2):
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    optimizer.step()
    print(step, out.dtype, loss.dtype, round(loss.item(), 2), model[0].weight.grad.dtype)
with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
    print((x @ x.t()).dtype, x.softmax(1).dtype, (x + 1).dtype)
