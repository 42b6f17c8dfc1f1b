"""Layers and losses that are made of the engine's operators. One whose operator is missing says so when it is called."""
import math

from .. import _C
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _empty(*size, device=None, dtype=None):
    return _C._VariableFunctions.empty(size, device=device, dtype=dtype)


class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_empty(out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return "in_features=%s, out_features=%s, bias=%s" % (self.in_features, self.out_features, self.bias is not None)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return "start_dim=%s, end_dim=%s" % (self.start_dim, self.end_dim)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.weight = Parameter(_empty(num_embeddings, embedding_dim, device=device, dtype=dtype))
        init.normal_(self.weight)
        if padding_idx is not None:
            from ..autograd.modes import no_grad
            with no_grad():
                self.weight[padding_idx].fill_(0)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        return "%s, %s" % (self.num_embeddings, self.embedding_dim) + ("" if self.padding_idx is None else ", padding_idx=%s" % self.padding_idx)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, Parameter(_empty(*self.normalized_shape, device=device, dtype=dtype)) if wanted else None)
        if elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return "%s, eps=%s, elementwise_affine=%s" % (self.normalized_shape, self.eps, self.elementwise_affine)


class _Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return "p=%s, inplace=%s" % (self.p, self.inplace)


class Dropout(_Dropout):
    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class _Activation(Module):
    """Its function, with what the layer was made with."""
    function = ""
    options = {}

    def __init__(self, *args, **kwargs):
        super().__init__()
        names = list(self.options)
        if len(args) > len(names) or any(k not in names for k in kwargs):
            raise TypeError("%s takes: %s" % (type(self).__name__, ", ".join(names) or "nothing"))
        self.__dict__.update({**self.options, **dict(zip(names, args)), **kwargs})

    def forward(self, input):
        return getattr(F, self.function)(input, **{n: getattr(self, n) for n in self.options})

    def extra_repr(self):
        return ", ".join("%s=%s" % (n, getattr(self, n)) for n, usual in self.options.items() if getattr(self, n) != usual)


def _activation(name, function, **options):
    return type(name, (_Activation,), {"function": function, "options": options, "__module__": "torch.nn"})


ReLU = _activation("ReLU", "relu", inplace=False)
Tanh = _activation("Tanh", "tanh")
Sigmoid = _activation("Sigmoid", "sigmoid")
GELU = _activation("GELU", "gelu", approximate="none")
SiLU = _activation("SiLU", "silu", inplace=False)
ELU = _activation("ELU", "elu", alpha=1.0, inplace=False)
LeakyReLU = _activation("LeakyReLU", "leaky_relu", negative_slope=0.01, inplace=False)
Softplus = _activation("Softplus", "softplus", beta=1.0, threshold=20.0)
Softmax = _activation("Softmax", "softmax", dim=None)
LogSoftmax = _activation("LogSoftmax", "log_softmax", dim=None)


class _Loss(Module):
    function = ""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, input, target):
        return getattr(F, self.function)(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    function = "mse_loss"


class L1Loss(_Loss):
    function = "l1_loss"


class SmoothL1Loss(_Loss):
    function = "smooth_l1_loss"


class BCELoss(_Loss):
    function = "binary_cross_entropy"


class BCEWithLogitsLoss(_Loss):
    function = "binary_cross_entropy_with_logits"


class NLLLoss(_Loss):
    function = "nll_loss"


class CrossEntropyLoss(Module):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction, self.label_smoothing = ignore_index, reduction, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, label_smoothing=self.label_smoothing)
