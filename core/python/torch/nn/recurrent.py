"""RNN, LSTM and GRU, and their cells."""
import math

from .. import _C
from .._missing import missing
from . import init
from .layers import _empty
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if proj_size:
            missing("nn.LSTM(proj_size=%d)" % proj_size)
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if not isinstance(hidden_size, int):
            raise TypeError("hidden_size should be of type int, got: " + type(hidden_size).__name__)
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if dropout > 0 and num_layers == 1:
            import warnings
            warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but got dropout=%s and "
                          "num_layers=%d" % (dropout, num_layers), stacklevel=2)
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        directions = 2 if bidirectional else 1
        self._flat_weights_names = []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = "_l%d%s" % (layer, "_reverse" if direction else "")
                inputs = input_size if layer == 0 else hidden_size * directions
                rows = _GATES[mode] * hidden_size
                shapes = [("weight_ih", (rows, inputs)), ("weight_hh", (rows, hidden_size)), ("bias_ih", (rows,)), ("bias_hh", (rows,))]
                made = [(name + suffix, Parameter(_empty(*shape, device=device, dtype=dtype))) for name, shape in shapes]  # biases too that are dropped
                for name, p in made if bias else made[:2]:
                    setattr(self, name, p)
                    self._flat_weights_names.append(name)
        self.reset_parameters()

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        n = 4 if self.bias else 2
        flat = self._flat_weights
        return [flat[i:i + n] for i in range(0, len(flat), n)]

    def flatten_parameters(self):
        """Of use on a GPU only."""

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _zeros(self, input, batch):
        return _C._VariableFunctions.zeros(self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size, dtype=input.dtype, device=input.device)

    def _check(self, input, states, names):
        if input.size(-1) != self.input_size:
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected %d, got %d" % (self.input_size, input.size(-1)))
        self._check_states(states, input.size(0) if self.batch_first else input.size(1), names)

    def _check_states(self, states, batch, names):
        expected = (self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size)
        for h, name in zip(states, names):
            if tuple(h.size()) != expected:
                raise RuntimeError("Expected %s size %s, got %s" % (name, expected, list(h.size())))

    def _run(self, function, input, hx):
        return function(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first)

    def _batched(self, input):
        """(the input with a batch, the dimension that was added or None)"""
        if input.dim() not in (2, 3):
            raise ValueError("%s: Expected input to be 2D or 3D, got %dD instead" % (type(self).__name__, input.dim()))
        if input.dim() == 3:
            return input, None
        dim = 0 if self.batch_first else 1
        return input.unsqueeze(dim), dim

    def permute_hidden(self, hx, permutation):
        if permutation is None:
            return hx
        return tuple(h.index_select(1, permutation) for h in hx) if isinstance(hx, tuple) else hx.index_select(1, permutation)

    def _packed(self, function, packed, hx):
        """(a packed sequence, what stays at the end), of a packed sequence."""
        input, batch_sizes, order, back = packed
        if hx is None:
            hx = self._begin(input, batch_sizes[0])
        else:
            hx = self.permute_hidden(hx, order)
        if not isinstance(hx, tuple):
            if input.size(-1) != self.input_size:
                raise RuntimeError("input.size(-1) must be equal to input_size. Expected %d, got %d" % (self.input_size, input.size(-1)))
            self._check_states([hx], int(batch_sizes[0]), ["hidden"])
        output, *hidden = function(input, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        hidden = tuple(hidden) if len(hidden) > 1 else hidden[0]
        return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(hidden, back)

    def extra_repr(self):
        text = "%s, %s" % (self.input_size, self.hidden_size)
        for name, usual in (("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0), ("bidirectional", False)):
            if getattr(self, name) != usual:
                text += ", %s=%s" % (name, getattr(self, name))
        return text


class _OneState(RNNBase):
    def _begin(self, input, batch):
        return self._zeros(input, batch)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._packed(self._function(), input, hx)
        input, added = self._batched(input)
        if hx is None:
            hx = self._zeros(input, input.size(0) if self.batch_first else input.size(1))
        elif added is not None:
            if hx.dim() != 2:
                raise RuntimeError("For unbatched 2-D input, hx should also be 2-D but got %d-D tensor" % hx.dim())
            hx = hx.unsqueeze(1)
        elif hx.dim() != 3:
            raise RuntimeError("For batched 3-D input, hx should also be 3-D but got %d-D tensor" % hx.dim())
        self._check(input, [hx], ["hidden"])
        output, hidden = self._run(self._function(), input, hx)
        if added is not None:
            output, hidden = output.squeeze(added), hidden.squeeze(1)
        return output, hidden


class RNN(_OneState):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError("Unknown nonlinearity '%s'. Select from 'tanh' or 'relu'." % nonlinearity)
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _function(self):
        return getattr(_C._VariableFunctions, self.mode.lower())


class GRU(_OneState):
    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)

    def _function(self):
        return _C._VariableFunctions.gru


class LSTM(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def _begin(self, input, batch):
        return self._zeros(input, batch), self._zeros(input, batch)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._packed(_C._VariableFunctions.lstm, input, hx)
        input, added = self._batched(input)
        if hx is None:
            batch = input.size(0) if self.batch_first else input.size(1)
            hx = (self._zeros(input, batch), self._zeros(input, batch))
        elif added is not None:
            if hx[0].dim() != 2 or hx[1].dim() != 2:
                raise RuntimeError("For unbatched 2-D input, hx and cx should also be 2-D but got (%d-D, %d-D) tensors" % (hx[0].dim(), hx[1].dim()))
            hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        elif hx[0].dim() != 3 or hx[1].dim() != 3:
            raise RuntimeError("For batched 3-D input, hx and cx should also be 3-D but got (%d-D, %d-D) tensors" % (hx[0].dim(), hx[1].dim()))
        self._check(input, hx, ["hidden[0]", "hidden[1]"])
        output, h, c = self._run(_C._VariableFunctions.lstm, input, hx)
        if added is not None:
            output, h, c = output.squeeze(added), h.squeeze(1), c.squeeze(1)
        return output, (h, c)


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(_empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_empty(rows, device=device, dtype=dtype)) if bias else None)
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _zeros(self, input):
        return _C._VariableFunctions.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)

    def extra_repr(self):
        text = "%s, %s" % (self.input_size, self.hidden_size)
        if self.bias is not True:
            text += ", bias=%s" % self.bias
        return text + (", nonlinearity=%s" % self.nonlinearity if getattr(self, "nonlinearity", "tanh") != "tanh" else "")

    def _one_state(self, function, input, hx):
        if input.dim() not in (1, 2):
            raise ValueError("%s: Expected input to be 1D or 2D, got %dD instead" % (type(self).__name__, input.dim()))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        hx = self._zeros(input) if hx is None else hx if batched else hx.unsqueeze(0)
        out = function(input, hx, *self._weights())
        return out if batched else out.squeeze(0)


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError("Unknown nonlinearity: %s" % self.nonlinearity)
        return self._one_state(getattr(_C._VariableFunctions, "rnn_%s_cell" % self.nonlinearity), input, hx)


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._one_state(_C._VariableFunctions.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._zeros(input)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = _C._VariableFunctions.lstm_cell(input, hx, *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
