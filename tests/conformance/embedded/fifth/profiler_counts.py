"""Uses the profiler to count the operators and output shapes of one training step, written in a slow and in a better way."""
import torch
import torch.nn as nn
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(12)
x = torch.randn(16, 10, 8)          # batch, time, features
y = torch.randn(16, 1)


class Slow(nn.Module):
    """Applies the layer step by step, as I wrote it first."""

    def __init__(self, lin, head):
        super().__init__()
        self.lin, self.head = lin, head

    def forward(self, x):
        outs = []
        for t in range(x.shape[1]):
            outs.append(torch.relu(self.lin(x[:, t])))
        return self.head(sum(outs) / len(outs))


class Better(Slow):
    def forward(self, x):
        return self.head(torch.relu(self.lin(x)).mean(1))


lin, head = nn.Linear(8, 12), nn.Linear(12, 1)


def count(model):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        with record_function("forward_pass"):
            loss = nn.functional.mse_loss(model(x), y)
        with record_function("backward_pass"):
            loss.backward()
    table = {e.key: e.count for e in prof.key_averages()}
    shapes = {}
    for e in prof.key_averages(group_by_input_shape=True):
        if e.key == "aten::addmm":
            shapes[str(e.input_shapes[1])] = e.count
    return loss.item(), table, shapes


results = {}
for name, cls in (("slow", Slow), ("better", Better)):
    lin.zero_grad(); head.zero_grad()
    results[name] = count(cls(lin, head))
    g = lin.weight.grad
    print(f"{name:7s} loss {results[name][0]:.4f}  |grad| {g.norm().item():.4f}")

print()
interesting = ["aten::linear", "aten::addmm", "aten::mm", "aten::relu", "aten::select", "aten::add",
               "aten::mean", "aten::mse_loss", "forward_pass", "backward_pass"]
print("%-16s %6s %6s" % ("operator", "slow", "better"))
for key in interesting:
    print("%-16s %6d %6d" % (key, results["slow"][1].get(key, 0), results["better"][1].get(key, 0)))
print()
for name in results:
    print(name, "addmm input shapes:", results[name][2])
