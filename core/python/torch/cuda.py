"""There are no GPUs in the embedded engine."""
__path__ = []  # so that modules below it are looked for, and said to be missing
from ._missing import attribute


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def manual_seed(seed):
    """Without a GPU: nothing to do, as in PyTorch."""


manual_seed_all = manual_seed
__getattr__ = attribute("torch.cuda")
