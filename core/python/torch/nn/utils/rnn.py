"""Sequences of different lengths."""
from ... import _C
from ..._missing import attribute


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if isinstance(sequences, _C.TensorBase):
        sequences = sequences.unbind(0)
    return _C._nn.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:int(n)] for s, n in zip(padded_sequences, lengths)]


__getattr__ = attribute("torch.nn.utils.rnn")
