"""Sequences of several lengths, packed for recurrent layers and padded again."""
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence, unpad_sequence

torch.manual_seed(4)
words = [torch.randint(0, 9, (n,)) for n in (2, 5, 3)]
embed = nn.Embedding(9, 4, padding_idx=0)
padded = pad_sequence(words, batch_first=True)
lengths = torch.tensor([len(w) for w in words])
print(padded, unpad_sequence(padded, lengths, batch_first=True))
packed = pack_padded_sequence(embed(padded), lengths, batch_first=True, enforce_sorted=False)
print(packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, packed.is_cuda, packed.data.shape)
for layer in (nn.GRU(4, 3, bidirectional=True), nn.RNN(4, 3, num_layers=2), nn.LSTM(4, 3, proj_size=0)):
    out, hidden = layer(packed)
    back, sizes = pad_packed_sequence(out, batch_first=True, padding_value=-1.0, total_length=6)
    print(type(layer).__name__, back.shape, sizes, isinstance(out, PackedSequence))
    loss = back.pow(2).mean() + (hidden[0] if isinstance(hidden, tuple) else hidden).sum()
    loss.backward(retain_graph=True)
    print(loss, [p.grad.abs().sum() for p in layer.parameters()])
print(embed.weight.grad)
both = pack_sequence([torch.ones(3, 2), torch.zeros(1, 2)])
print(both, [t.shape for t in unpack_sequence(both)], both.to(torch.float64).data.dtype)
for wrong in (lambda: pack_padded_sequence(torch.ones(3, 2, 1), [1, 3]), lambda: pack_padded_sequence(torch.ones(3, 2, 1), [3, 0]), lambda: pack_sequence([torch.ones(1), torch.ones(2)]),
              lambda: pad_packed_sequence(both, total_length=1), lambda: nn.GRU(5, 2)(both)):
    try:
        wrong()
    except (RuntimeError, ValueError) as e:
        print(type(e).__name__, str(e).strip())
