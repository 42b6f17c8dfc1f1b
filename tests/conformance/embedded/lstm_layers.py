"""LSTMs: two layers, both directions, batch first, unbatched, of doubles, and a cell by hand."""
import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(2, 4, 3, requires_grad=True)
deep = nn.LSTM(3, 5, num_layers=2, bidirectional=True, batch_first=True)
out, (h, c) = deep(x)
(out.sum() + h.sum() - c.mean()).backward()
print(out.shape, h.shape, c.shape, out.mean().item(), x.grad.abs().sum().item(), deep.weight_ih_l1_reverse.grad.sum().item())
plain = nn.LSTM(3, 4, bias=False)
print(plain(torch.randn(5, 3))[0].sum().item())
wide = nn.LSTM(3, 4).double()
y, state = wide(torch.randn(3, 2, 3, dtype=torch.float64))
y.sum().backward()
print(y.dtype, y.sum().item(), wide.bias_hh_l0.grad.tolist())
cell = nn.LSTMCell(3, 4)
h = c = torch.zeros(2, 4)
for step in torch.randn(3, 2, 3):
    h, c = cell(step, (h, c))
h.sum().backward()
print(h.tolist(), cell.weight_hh.grad.sum().item())
