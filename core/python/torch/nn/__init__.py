"""Modules."""
from .._missing import attribute
from . import functional, init, utils  # noqa: F401
from .containers import ModuleDict, ModuleList, ParameterList, Sequential  # noqa: F401
from .images import AdaptiveAvgPool2d, BatchNorm1d, BatchNorm2d, Conv2d, MaxPool2d  # noqa: F401
from .layers import *  # noqa: F401,F403
from .module import Module  # noqa: F401
from .parameter import Buffer, Parameter  # noqa: F401

__getattr__ = attribute("torch.nn")
