"""What torch.func is made of: function transforms over the engine's levels (torch._C._functorch)."""
from .._missing import attribute

__getattr__ = attribute("torch._functorch")
