"""A CUDA graph, captured once and replayed five times."""
import torch
from marks import mark

x = torch.randn(64, 64, device="cuda")
w = torch.randn(64, 64, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        y = torch.relu(x @ w) + 1
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.relu(x @ w) + 1
for _ in range(5):
    graph.replay()
mark()
print(torch.isfinite(y).all().item())
