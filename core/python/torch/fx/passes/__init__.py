"""Passes over graphs."""
from ..._missing import attribute

__getattr__ = attribute("torch.fx.passes")
