"""Sequences of different lengths."""
from collections import namedtuple
from collections.abc import Iterable

from ... import _C
from ..._missing import attribute

_V = _C._VariableFunctions


class PackedSequence(namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """Sequences of a batch, longest first, step by step without padding: `batch_sizes` of them are left at each step."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self):
        return self.to("cpu")

    def cuda(self, *args, **kwargs):
        return self.to("cuda")

    def double(self):
        return self.to(dtype=_C.float64)

    def float(self):
        return self.to(dtype=_C.float32)

    def half(self):
        return self.to(dtype=_C.float16)

    is_cuda = property(lambda self: self.data.is_cuda)

    def is_pinned(self):
        return self.data.is_pinned()


def invert_permutation(permutation):
    if permutation is None:
        return None
    output = _V.empty_like(permutation, memory_format=_C.contiguous_format)
    output.scatter_(0, permutation, _V.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = lengths.to(dtype=_C.int64) if isinstance(lengths, _C.TensorBase) else _C._as_tensor(lengths, _C.int64, "cpu")
    order = None
    if not enforce_sorted:
        lengths, order = _V.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = _V._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < longest:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got total_length=%s and max sequence length being %s"
                             % (total_length, longest))
        longest = total_length
    padded, lengths = _V._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value, longest)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: %s" % type(sequences))
    return _C._nn.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    index = _V.arange(padded_sequences.shape[1], device=lengths.device)
    return [sequence[index < length] for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = _C._as_tensor([s.size(0) for s in sequences], None, None)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


PackedSequence.__module__ = "torch.nn.utils.rnn"
__getattr__ = attribute("torch.nn.utils.rnn")
