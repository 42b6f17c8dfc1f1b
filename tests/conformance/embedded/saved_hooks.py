"""What autograd saves goes through hooks; checkpoints recompute it; nodes and tensors with hooks of their own."""
import torch
from torch import nn
from torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)
seen = []


def pack(t):
    seen.append(tuple(t.shape))
    return t.to(torch.float64)


x = torch.randn(3, 4, requires_grad=True)
with saved_tensors_hooks(pack, lambda t: t.float()):
    y = (x.exp() * x.tanh()).sum()
y.backward()
print(seen, x.grad)
with save_on_cpu():
    print(torch.autograd.grad((x * x).sum(), x)[0])
with disable_saved_tensors_hooks("not here"):
    try:
        with saved_tensors_hooks(pack, pack):
            x.exp()
    except RuntimeError as e:
        print(e)

net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Dropout(0.5), nn.Linear(5, 2), nn.ReLU())
for reentrant in (True, False):
    net.zero_grad()
    torch.manual_seed(3)
    out = checkpoint(net, x, use_reentrant=reentrant)
    out.sum().backward()
    print(reentrant, out, net[0].weight.grad.sum())
    torch.manual_seed(3)
    print(checkpoint_sequential(net, 2, x, use_reentrant=reentrant).sum())

w = torch.ones(2, requires_grad=True)
z = w * 3
node = z.grad_fn
print(node, node.name(), node.next_functions, node.next_functions[0][0].variable is w)
node.register_prehook(lambda outs: tuple(g * 2 for g in outs))
node.register_hook(lambda ins, outs: print("node", ins, outs))
handle = z.register_hook(lambda g: g + 1)
w.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
z.retain_grad()
z.sum().backward(retain_graph=True)
print(z.grad, w.grad)
handle.remove()
z.sum().backward()
print(z.grad, w.grad)
edge = torch.autograd.graph.get_gradient_edge(w)
print(edge.node.name(), edge.output_nr)
