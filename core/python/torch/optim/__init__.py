"""Optimizers: the loop over single tensors, which is what PyTorch runs on the CPU unless it is asked for another."""
from .._missing import attribute
from . import lr_scheduler  # noqa: F401
from .adam import Adam, AdamW  # noqa: F401
from .more import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401

__getattr__ = attribute("torch.optim")
