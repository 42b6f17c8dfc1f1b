"""Random numbers come from one generator, that of the process."""
from . import _C
from ._missing import attribute, missing


class Generator:
    """Only the process's own can be had."""

    def __init__(self, device="cpu"):
        if device is not _DEFAULT:
            missing("torch.Generator() beside the default one")
        self._seed = 67280421310721  # PyTorch's

    def manual_seed(self, seed):
        self._seed = int(seed)
        _C._manual_seed(self._seed & 0xFFFFFFFFFFFFFFFF)
        return self

    def initial_seed(self):
        return self._seed

    def seed(self):
        import os
        return self.manual_seed(int.from_bytes(os.urandom(8), "little"))._seed


_DEFAULT = object()
default_generator = Generator(_DEFAULT)


def manual_seed(seed):
    return default_generator.manual_seed(seed)


def initial_seed():
    return default_generator.initial_seed()


def seed():
    return default_generator.seed()


__getattr__ = attribute("torch.random")
