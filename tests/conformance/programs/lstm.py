"""A two-layer LSTM over packed sequences, trained for three steps; a bidirectional GRU without gradient."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(1)
lstm = nn.LSTM(input_size=6, hidden_size=8, num_layers=2, batch_first=True, dropout=0.1)
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)
x, lengths = torch.randn(3, 5, 6), torch.tensor([5, 3, 2])

for _ in range(3):
    optimizer.zero_grad()
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    out, (h, c) = lstm(packed)
    padded, _ = pad_packed_sequence(out, batch_first=True)
    loss = head(padded).pow(2).mean() + c.abs().mean()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())

gru = nn.GRU(6, 4, bidirectional=True)
with torch.no_grad():
    y, h = gru(torch.randn(4, 2, 6))
print(y.tolist(), h.tolist())
