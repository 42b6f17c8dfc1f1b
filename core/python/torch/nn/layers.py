"""Layers and losses that are made of the engine's operators. One whose operator is missing says so when it is called."""
import math

from .. import _C
from .._missing import missing
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


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer by another name: attention's last one."""


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return "start_dim=%s, end_dim=%s" % (self.start_dim, self.end_dim)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False,
                 device=None, dtype=None):
        super().__init__()
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx, self.scale_grad_by_freq = num_embeddings, embedding_dim, padding_idx, scale_grad_by_freq
        self.max_norm, self.norm_type, self.sparse = max_norm, norm_type, sparse
        if _weight is not None:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)
            return
        self.weight = Parameter(_empty(num_embeddings, embedding_dim, device=device, dtype=dtype), requires_grad=not _freeze)
        self.reset_parameters()

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            from ..autograd.modes import no_grad
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **options):
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze, **options)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)

    def extra_repr(self):
        text = "%s, %s" % (self.num_embeddings, self.embedding_dim)
        for name, usual in (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                text += ", %s=%s" % (name, getattr(self, name))
        return text + (", sparse=True" if self.sparse else "")


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, Parameter(_empty(*self.normalized_shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return "%s, eps=%s, elementwise_affine=%s, bias=%s" % (self.normalized_shape, self.eps, self.elementwise_affine, self.bias is not None)


class _Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return "p=%s, inplace=%s" % (self.p, self.inplace)


class Dropout1d(_Dropout):
    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class Dropout(_Dropout):
    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class _Activation(Module):
    """Its function, with what the layer was made with."""
    function = ""
    options = {}
    also = {}  # what handlers of the function see beside the options

    def __init__(self, *args, **kwargs):
        super().__init__()
        names = list(self.options)
        if len(args) > len(names) or any(k not in names for k in kwargs):
            raise TypeError("%s takes: %s" % (type(self).__name__, ", ".join(names) or "nothing"))
        self.__dict__.update({**self.options, **dict(zip(names, args)), **kwargs})

    def forward(self, input):
        return getattr(F, self.function)(input, **{n: getattr(self, n) for n in self.options}, **self.also)

    def extra_repr(self):
        return ", ".join("%s=%r" % (n, getattr(self, n)) for n in self.options if n != "inplace" or self.inplace)


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
Softmin = _activation("Softmin", "softmin", dim=None)
Softmax.also = LogSoftmax.also = Softmin.also = {"_stacklevel": 5}
Hardtanh = _activation("Hardtanh", "hardtanh", min_val=-1.0, max_val=1.0, inplace=False)
Hardswish = _activation("Hardswish", "hardswish", inplace=False)
Hardsigmoid = _activation("Hardsigmoid", "hardsigmoid", inplace=False)
Mish = _activation("Mish", "mish", inplace=False)
SELU = _activation("SELU", "selu", inplace=False)
CELU = _activation("CELU", "celu", alpha=1.0, inplace=False)
GLU = _activation("GLU", "glu", dim=-1)
LogSigmoid = _activation("LogSigmoid", "logsigmoid")
Softsign = _activation("Softsign", "softsign")
Tanhshrink = _activation("Tanhshrink", "tanhshrink")


class ReLU6(Hardtanh):
    options = {"inplace": False}

    def forward(self, input):
        return F.hardtanh(input, 0.0, 6.0, self.inplace)


class _Shrink(Module):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        return str(self.lambd)


class Softshrink(_Shrink):
    def forward(self, input):
        return F.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class Threshold(Module):
    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        return "threshold=%s, value=%s" % (self.threshold, self.value)


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(_empty(num_parameters, device=device, dtype=dtype))
        globals()["init"].constant_(self.weight, init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return "num_parameters=%s" % self.num_parameters


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError("num_channels (%s) must be divisible by num_groups (%s)" % (num_channels, num_groups))
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(_empty(num_channels, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return "%s, %s, eps=%s, affine=%s, bias=%s" % (self.num_groups, self.num_channels, self.eps, self.affine, self.bias is not None)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return "dim=%s, unflattened_size=%s" % (self.dim, self.unflattened_size)


class CosineSimilarity(Module):
    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class _Loss(Module):
    function = ""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, input, target):
        return getattr(F, self.function)(input, target, reduction=self.reduction)


class _OptionLoss(_Loss):
    """One with an option that its function takes by name."""
    option, usual = "", None

    def __init__(self, *args, size_average=None, reduce=None, reduction="mean", **kwargs):
        super().__init__(reduction=reduction)
        setattr(self, self.option, args[0] if args else kwargs.pop(self.option, self.usual))
        if kwargs:
            raise TypeError("%s got an unexpected keyword argument '%s'" % (type(self).__name__, next(iter(kwargs))))

    def forward(self, *inputs):
        return getattr(F, self.function)(*inputs, reduction=self.reduction, **{self.option: getattr(self, self.option)})


def _loss(name, function, option=None, usual=None):
    base = _Loss if option is None else _OptionLoss
    return type(name, (base,), {"function": function, "option": option, "usual": usual, "__module__": "torch.nn"})


MSELoss = _loss("MSELoss", "mse_loss")
L1Loss = _loss("L1Loss", "l1_loss")
SmoothL1Loss = _loss("SmoothL1Loss", "smooth_l1_loss", "beta", 1.0)
HuberLoss = _loss("HuberLoss", "huber_loss", "delta", 1.0)
KLDivLoss = _loss("KLDivLoss", "kl_div", "log_target", False)
MarginRankingLoss = _loss("MarginRankingLoss", "margin_ranking_loss", "margin", 0.0)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", "hinge_embedding_loss", "margin", 1.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", "cosine_embedding_loss", "margin", 0.0)
PoissonNLLLoss = _loss("PoissonNLLLoss", "poisson_nll_loss", "log_input", True)
GaussianNLLLoss = _loss("GaussianNLLLoss", "gaussian_nll_loss", "full", False)


class TripletMarginLoss(_Loss):
    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__(reduction=reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap, reduction=self.reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)

    def forward(self, input, target):
        return getattr(F, self.function)(input, target, weight=self.weight, reduction=self.reduction)


class BCELoss(_WeightedLoss):
    function = "binary_cross_entropy"


class BCEWithLogitsLoss(_WeightedLoss):
    function = "binary_cross_entropy_with_logits"

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    function = "nll_loss"

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(Module):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction, self.label_smoothing = ignore_index, reduction, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, label_smoothing=self.label_smoothing)
