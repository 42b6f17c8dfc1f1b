"""torch.nn.modules: where PyTorch has its layers."""
from .._missing import homes
from . import _calling, attention, containers, images, layers, lazy, more_layers, padding, parameter, recurrent, volumes
from .module import Module


def _sizes(n):
    def times(value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    times.__name__ = "_ntuple(%d)" % n
    return times


def _classes(source, names):
    return [getattr(source, name) for name in names.split()]


_L, _M, _I = layers, more_layers, images
_TABLE = {
    "activation": _classes(_L, "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmin "
                               "Softplus Softshrink Softsign Tanh Tanhshrink Threshold") + [attention.MultiheadAttention, _M.RReLU, _M.Softmax2d],
    "batchnorm": _classes(_I, "BatchNorm1d BatchNorm2d BatchNorm3d _BatchNorm _NormBase") + _classes(lazy, "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d"),
    "container": _classes(containers, "ModuleDict ModuleList ParameterDict ParameterList Sequential"),
    "conv": _classes(_I, "Conv1d Conv2d ConvTranspose1d ConvTranspose2d _ConvNd") + _classes(volumes, "Conv3d ConvTranspose3d")
    + _classes(lazy, "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d"),
    "distance": _classes(_L, "CosineSimilarity PairwiseDistance"),
    "dropout": _classes(_L, "AlphaDropout Dropout Dropout1d Dropout2d") + _classes(_M, "Dropout3d FeatureAlphaDropout"),
    "flatten": _classes(_L, "Flatten Unflatten"),
    "fold": _classes(_M, "Fold Unfold"),
    "instancenorm": _classes(_I, "InstanceNorm1d InstanceNorm2d InstanceNorm3d _InstanceNorm") + _classes(lazy, "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"),
    "lazy": [lazy.LazyModuleMixin],
    "linear": _classes(_L, "Identity Linear NonDynamicallyQuantizableLinear") + [_M.Bilinear, lazy.LazyLinear],
    "loss": _classes(_L, "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss NLLLoss "
                         "PoissonNLLLoss SmoothL1Loss TripletMarginLoss _Loss _WeightedLoss")
    + _classes(_M, "CTCLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss TripletMarginWithDistanceLoss"),
    "module": [Module, *(f for name, f in vars(_calling).items() if name.startswith("register_module_"))],
    "normalization": _classes(_L, "GroupNorm LayerNorm") + _classes(_M, "LocalResponseNorm RMSNorm"),
    "padding": [what for name, what in vars(padding).items() if "Pad" in name and name[-1] == "d" and name[0] != "_"],
    "channelshuffle": [_M.ChannelShuffle],
    "pixelshuffle": _classes(_M, "PixelShuffle PixelUnshuffle"),
    "pooling": _classes(_I, "AdaptiveAvgPool1d AdaptiveAvgPool2d AvgPool1d AvgPool2d MaxPool1d MaxPool2d")
    + _classes(_M, "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool3d MaxUnpool1d MaxUnpool2d") + _classes(volumes, "AdaptiveAvgPool3d AvgPool3d"),
    "rnn": _classes(recurrent, "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase"),
    "sparse": [_L.Embedding, _M.EmbeddingBag],
    "transformer": _classes(attention, "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"),
    "upsampling": _classes(_M, "Upsample UpsamplingBilinear2d UpsamplingNearest2d"),
    "utils": [],
}
homes(__name__, _TABLE)
for _n, _name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1):
    setattr(utils, _name, _sizes(_n))  # noqa: F821
utils._ntuple = _sizes  # noqa: F821
globals().update({one.__name__: one for held in _TABLE.values() for one in held})
parameter.Parameter.__module__ = "torch.nn.parameter"
__path__ = []
