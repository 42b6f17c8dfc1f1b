"""Profile a small transformer step with torch.profiler and print call counts and shapes, no times."""
from collections import Counter

import torch
import torch.nn as nn
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
block = nn.TransformerEncoderLayer(d_model=16, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
head = nn.Linear(16, 5)
x = torch.randn(2, 6, 16)
y = torch.randint(0, 5, (2, 6))

with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as prof:
    with record_function("my_forward"):
        logits = head(block(x))
    with record_function("my_loss"):
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    with record_function("my_backward"):
        loss.backward()

print("loss %.4f" % loss.item())
averages = prof.key_averages()
counts = {e.key: e.count for e in averages}
for key in ("my_forward", "my_loss", "my_backward", "aten::linear", "aten::addmm", "aten::native_layer_norm",
            "aten::relu", "aten::scaled_dot_product_attention"):
    print(f"{key:34s} {counts.get(key, 0)}")

print("matmul-like ops with shapes:")
seen = Counter()
for e in prof.events():
    if e.name == "aten::addmm":
        seen[str([s for s in e.input_shapes if s][:3])] += 1
for shapes, n in sorted(seen.items()):
    print("  addmm", shapes, "x", n)

total = sum(e.flops for e in averages if e.key == "aten::addmm")
print("flops in addmm:", total)
print("backward nodes seen:", any(e.key.startswith("autograd::engine") for e in averages))

# the same count by walking the graph by hand
names = Counter()
stack, visited = [loss.grad_fn], set()
while stack:
    fn = stack.pop()
    if fn is None or fn in visited:
        continue
    visited.add(fn)
    names[type(fn).__name__] += 1
    stack.extend(f for f, _ in fn.next_functions)
print("AccumulateGrad nodes:", names["AccumulateGrad"],
      "parameters:", len(list(block.parameters())) + len(list(head.parameters())))
