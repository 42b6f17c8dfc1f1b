"""Kinds of initial weights."""
import torch
from torch import nn

torch.manual_seed(23)
w = torch.empty(3, 4)
for f in (nn.init.uniform_, nn.init.normal_, nn.init.xavier_uniform_, nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_, nn.init.zeros_, nn.init.ones_,
          nn.init.trunc_normal_):
    print(f.__name__, f(w).sum().item())
print(nn.init.constant_(w, 0.3)[0], nn.init.calculate_gain("relu"), nn.init.kaiming_normal_(torch.empty(8, 4), mode="fan_out", nonlinearity="relu").std().item())
