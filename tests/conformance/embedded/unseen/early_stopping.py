"""Checkpoints of the best model, patience, reloading."""
import copy
import io

import torch
from torch import nn

torch.manual_seed(12)
x, y = torch.randn(30, 3), torch.randn(30, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.05)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "min", patience=1)
best, best_state, bad = float("inf"), None, 0
for epoch in range(6):
    model.train()
    opt.zero_grad()
    nn.MSELoss()(model(x[:20]), y[:20]).backward()
    opt.step()
    model.eval()
    with torch.inference_mode():
        val = nn.MSELoss()(model(x[20:]), y[20:]).item()
    sched.step(val)
    if val < best:
        best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad > 2:
            break
    print(epoch, round(val, 5), opt.param_groups[0]["lr"])
buffer = io.BytesIO()
torch.save({"state": best_state, "val": best}, buffer)
buffer.seek(0)
model.load_state_dict(torch.load(buffer)["state"])
with torch.no_grad():
    print(abs(nn.MSELoss()(model(x[20:]), y[20:]).item() - best) < 1e-6)
