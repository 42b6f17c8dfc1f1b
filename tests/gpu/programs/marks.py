"""Points at which a program says what the allocator holds, for the test to compare: a hop of an operator that nothing else here calls marks the moment."""
import json
import os

import torch

marks = []


def mark():
    torch.cuda.synchronize()
    torch.eye(7)
    caching = torch.cuda.get_allocator_backend() == "native"  # CUDA's own allocator has no segments that it would tell of
    segments = None if not caching else [{"address": s["address"], "total_size": s["total_size"], "blocks": [[b["size"], b["requested_size"], b["state"]] for b in s["blocks"]]}
                for s in torch.cuda.memory._snapshot()["segments"]]
    marks.append({"allocated": torch.cuda.memory_allocated(), "segments": segments})
    if os.environ.get("PEEL_MARKS"):
        with open(os.environ["PEEL_MARKS"], "w") as f:
            json.dump(marks, f)
