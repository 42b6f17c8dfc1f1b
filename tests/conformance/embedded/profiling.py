"""What torch.profiler counts: names, counts, shapes, parents, memory, flops, steps of a schedule, spans of the program's own."""
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(0)
x = torch.randn(4, 4, requires_grad=True)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("forward"):
        y = torch.relu(x @ x).sum()
    y.backward()
print(sorted((e.key, e.count) for e in prof.key_averages()))
for e in sorted((e.key, e.count, str(e.input_shapes)) for e in prof.key_averages(group_by_input_shape=True) if "Backward" not in e.key and "Accumulate" not in e.key):
    print(*e)
for e in prof.events():
    print(e.name, e.cpu_parent.name if e.cpu_parent else None, e.sequence_nr >= 0, e.is_async, len(e.cpu_children), e.thread)
table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=3)
print(len(table.splitlines()), table.splitlines()[1].split("  ")[-2], len(table.splitlines()[0]), len(table.splitlines()[4]))
print(all(e.cpu_time_total >= e.self_cpu_time_total >= 0 for e in prof.key_averages()), prof.key_averages().total_average().count)

with torch.autograd.profiler.profile() as p:
    torch.relu(x)
    torch.cat([x, x])
    x.detach()
print([(e.name, e.input_shapes) for e in p.function_events])

with torch.autograd.profiler.profile(record_shapes=True, with_flops=True) as p:
    torch.mm(x, x)
    torch.cat([x, x], 1)
    x * x + 1
    torch.nn.functional.conv2d(torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3), padding=1)
print([(e.name, e.input_shapes, e.flops) for e in p.function_events if e.name in ("aten::mm", "aten::cat", "aten::mul", "aten::add", "aten::conv2d")])


@record_function("named")
def work():
    return torch.ones(2) + 1


handled = []
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: handled.append(p.step_num)) as prof:
    for step in range(6):
        optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        work()
        optimizer.step()
        prof.step()
print(handled, prof.step_num)
counts = {e.key: e.count for e in prof.key_averages()}
print({k: counts.get(k) for k in ("ProfilerStep*", "named", "aten::linear", "aten::addmm", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad")})
with tempfile.TemporaryDirectory() as folder:
    prof.export_chrome_trace(os.path.join(folder, "trace.json"))
    print(os.path.getsize(os.path.join(folder, "trace.json")) > 500)
for bad in (dict(wait=-1, warmup=0, active=1), dict(wait=0, warmup=0, active=0)):
    try:
        schedule(**bad)
    except Exception as e:
        print(type(e).__name__, e)
