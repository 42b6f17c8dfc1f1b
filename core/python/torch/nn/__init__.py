"""Modules."""
from .._missing import attribute
from . import functional, init, utils  # noqa: F401
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential  # noqa: F401
from .images import (AdaptiveAvgPool1d, AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d, InstanceNorm1d,  # noqa: F401
                     InstanceNorm2d, InstanceNorm3d, MaxPool1d, MaxPool2d)
from .layers import *  # noqa: F401,F403
from .lazy import (LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyConv1d, LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d,  # noqa: F401
                   LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d, LazyLinear)
from .module import Module  # noqa: F401
from .more_layers import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .attention import (MultiheadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer)  # noqa: F401
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase  # noqa: F401
from .volumes import AdaptiveAvgPool3d, AvgPool3d, Conv3d, ConvTranspose3d  # noqa: F401
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401
from . import modules  # noqa: E402,F401

__getattr__ = attribute("torch.nn")
