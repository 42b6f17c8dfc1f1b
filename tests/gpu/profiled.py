"""profiled.py PROGRAM OUT.json [ARG...]: runs a program under PyTorch's profiler with CUDA; the answer is how often each kernel, copy and set ran."""
import collections
import json
import os
import runpy
import sys

import torch
from torch.profiler import ProfilerActivity, profile

program, out = sys.argv[1:3]
sys.argv = [program, *sys.argv[3:]]
sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
with profile(activities=[ProfilerActivity.CUDA]) as p:
    runpy.run_path(program, run_name="__main__")
    torch.cuda.synchronize()
trace = out + ".trace"
p.export_chrome_trace(trace)
with open(trace) as f:
    events = json.load(f)["traceEvents"]
counts = collections.Counter(e["name"] if e["cat"] == "kernel" else e["cat"] for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
with open(out, "w") as f:
    json.dump(counts, f)
