"""Optimizers: the loop over single tensors, which is what PyTorch runs on the CPU unless it is asked for another."""
from .._missing import attribute, homes
from .adam import Adam, AdamW  # noqa: F401
from .lbfgs import LBFGS  # noqa: F401
from .more import ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop, Rprop  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401
from .sparse_adam import SparseAdam  # noqa: F401
from . import lr_scheduler  # noqa: E402,F401

_missing = attribute("torch.optim")


def __getattr__(name):
    if name != "swa_utils":
        return _missing(name)
    import importlib
    return importlib.import_module("torch.optim.swa_utils")  # needs torch.nn


# Where PyTorch has them.
homes("torch.optim", {"adamw": [AdamW], "adadelta": [Adadelta], "adagrad": [Adagrad], "adamax": [Adamax], "asgd": [ASGD], "nadam": [NAdam], "radam": [RAdam],
                      "rmsprop": [RMSprop], "rprop": [Rprop]})
