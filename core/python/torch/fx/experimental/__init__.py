"""torch.fx.experimental: optimization only."""
from ..._missing import attribute

__getattr__ = attribute("torch.fx.experimental")
