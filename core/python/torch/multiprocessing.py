"""Python's multiprocessing, under the name that PyTorch has for it. Tensors go to other processes as copies."""
from multiprocessing import *  # noqa: F401,F403
from multiprocessing import get_context  # noqa: F401

from ._missing import attribute


def set_sharing_strategy(new_strategy):
    """Tensors are copied."""


def get_sharing_strategy():
    return "file_descriptor"


def get_all_sharing_strategies():
    return {"file_descriptor", "file_system"}


__getattr__ = attribute("torch.multiprocessing")
