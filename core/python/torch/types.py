"""Names for annotations."""
import builtins
from typing import Any, List, Optional, Sequence, Tuple, Union  # noqa: F401

import torch
from torch import Size, Tensor, device as _device, dtype as _dtype, layout as _layout  # noqa: F401

_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_size = Union[torch.Size, List[int], Tuple[int, ...]]
Device = Optional[Union[_device, str, int]]
Number = Union[int, float, bool]
_Number = (int, float, bool)
Storage = torch.UntypedStorage
