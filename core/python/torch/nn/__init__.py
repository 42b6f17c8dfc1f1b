"""Modules."""
from .._missing import attribute
from . import functional, init, utils  # noqa: F401
from .containers import ModuleDict, ModuleList, ParameterList, Sequential  # noqa: F401
from .images import (AdaptiveAvgPool1d, AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, ConvTranspose2d, InstanceNorm1d, InstanceNorm2d,  # noqa: F401
                     MaxPool1d, MaxPool2d, ZeroPad2d)
from .layers import *  # noqa: F401,F403
from .module import Module  # noqa: F401
from .attention import (MultiheadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer)  # noqa: F401
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase  # noqa: F401
from .parameter import Buffer, Parameter  # noqa: F401

__getattr__ = attribute("torch.nn")
