"""Two streams, an event between them, memory that is used on another stream than its own."""
import torch
from marks import mark

side = torch.cuda.Stream()
a = torch.randn(1024, 1024, device="cuda")
for _ in range(3):
    b = a @ a
    done = torch.cuda.Event()
    done.record()
    with torch.cuda.stream(side):
        side.wait_event(done)
        c = (b * 2).sum()
    b.record_stream(side)
    del b
    mark()
torch.cuda.current_stream().wait_stream(side)
print(torch.isfinite(c).item())
