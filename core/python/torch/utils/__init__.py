"""What programs use beside the tensors themselves."""
from .._missing import attribute
from . import checkpoint, data, hooks  # noqa: F401

__getattr__ = attribute("torch.utils")
