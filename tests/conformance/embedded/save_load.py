"""Weights and more into a file and back: models, optimizers, tensors that share memory, several dtypes."""
import io
import os
import tempfile

import torch
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.randn(5, 3)).sum().backward()
optimizer.step()
path = os.path.join(tempfile.mkdtemp(), "model.pt")
torch.save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": 0.5}, path)
kept = torch.load(path)
fresh = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
print(fresh.load_state_dict(kept["model"]), kept["epoch"], sorted(kept["optimizer"]))
other = torch.optim.Adam(fresh.parameters(), lr=0.5)
other.load_state_dict(kept["optimizer"])
print(other.param_groups[0]["lr"], torch.equal(fresh[0].weight, model[0].weight))
base = torch.arange(6)
file = io.BytesIO()
torch.save([base, base[2:4], torch.tensor(True), torch.zeros(2, dtype=torch.float64), nn.Parameter(torch.ones(2))], file)
file.seek(0)
whole, part, flag, wide, weight = torch.load(file)
part.fill_(-1)
print(whole, part, flag, wide.dtype, type(weight).__name__, weight.requires_grad)
try:
    nn.Linear(3, 4).load_state_dict({"weight": torch.zeros(1, 1)})
except RuntimeError as e:
    print(str(e).split("\n")[0])
