"""GRU and RNN: training mode with dropout between layers, states handed on, cells."""
import torch
from torch import nn

torch.manual_seed(3)
gru = nn.GRU(4, 6, num_layers=2, dropout=0.3)
x = torch.randn(5, 3, 4)
out, h = gru(x)
out2, h2 = gru(x, h.detach())
(out.sum() + out2.pow(2).sum()).backward()
print(out.sum().item(), h2.shape, gru.weight_ih_l0.grad.norm().item())
for kind in ("tanh", "relu"):
    rnn = nn.RNN(4, 3, nonlinearity=kind, batch_first=True, bidirectional=True)
    y, last = rnn(torch.randn(2, 6, 4))
    y.mean().backward()
    print(kind, y.shape, last.sum().item(), rnn.bias_ih_l0.grad.tolist())
cell, simple = nn.GRUCell(4, 3), nn.RNNCell(4, 3)
h = cell(torch.randn(2, 4))
h = cell(torch.randn(2, 4), h)
print(h.sum().item(), simple(torch.randn(4)).tolist())
print(gru, cell, simple)
