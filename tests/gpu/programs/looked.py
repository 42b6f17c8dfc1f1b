"""Tensors that tests/gpu/live.py looks at where the program stands; printed for each: what there is to be seen, in that order."""
import torch


def number(t):
    return "%.6g" % float(t) if t.numel() else ""


def say(x):
    d = x.detach().cpu().flatten().double()
    good, finite = d[~d.isnan()], d[d.isfinite()]
    print("|".join([number(good.min() if len(good) else good), number(good.max() if len(good) else good), number(finite.mean() if len(finite) else finite),
                    str(int(d.isnan().sum())), str(int(d.isinf().sum()))]), flush=True)


look = torch.ops.aten.alias.default
a = torch.arange(35, device="cuda", dtype=torch.float32).view(7, 5)
a[2, 3], a[1, 1] = float("nan"), float("inf")
big = torch.arange(5_000_000, device="cuda", dtype=torch.float32)
for x in (a, a.t(), a[1:6:2, ::3], a.half(), a.bfloat16(), torch.arange(-5, 9, device="cuda"), torch.tensor([True, False], device="cuda"), torch.empty(0, 3, device="cuda"), a[3].expand(4, 5),
          big[:1_000_000], big.view(5, 1_000_000)[:, 7], torch.full((3, 4), 2.5, device="cuda", dtype=torch.float64)):
    look(x)
    say(x)

# The work before is waited for, on whatever stream it is.
torch.cuda._sleep(100_000_000)
y = a * 0 + 3
look(y)
say(y)
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    torch.cuda._sleep(100_000_000)
    z = big[:10] + 1
    look(z)
torch.cuda.current_stream().wait_stream(side)
say(z)

# But not for long.
torch.cuda._sleep(8_000_000_000)
look(a)
print("busy", flush=True)
torch.cuda.synchronize()

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    w = big[:4] * 2
    look(w)
print("captured", flush=True)
graph.replay()
torch.cuda.synchronize()
look(w)
say(w)
