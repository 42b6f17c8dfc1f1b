"""Asks for more than there is, on purpose, after some fragmentation."""
import torch
from marks import mark

torch.cuda.set_per_process_memory_fraction(512 * 2**20 / torch.cuda.get_device_properties(0).total_memory)
kept = [torch.empty(8 * 2**20, dtype=torch.uint8, device="cuda") for _ in range(24)]  # two to a segment of 20 MiB
del kept[1::2]  # half of every segment is free, and none can be given back
mark()
try:
    torch.empty(400 * 2**20, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as e:
    print("refused", "out of memory" in str(e))
mark()
