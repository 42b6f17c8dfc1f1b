"""Nodes of the graph: what they keep, notes on them, hooks before and after them, and hooks over several tensors."""
import torch
from torch.autograd.graph import register_multi_grad_hook

a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
y = (a * b).exp()
node = y.grad_fn
node.metadata["made"] = "here"
print(y.grad_fn.metadata, node.name(), node._saved_result, node.next_functions[0][0]._saved_self, node.next_functions[0][0]._saved_other)
before = node.register_prehook(lambda grads: (grads[0] * 2,))
after = node.register_hook(lambda inputs, outputs: print("ran", [g.tolist() for g in inputs], [g.tolist() for g in outputs]))
y.sum().backward(retain_graph=True)
before.remove()
after.remove()
print(a.grad, b.grad)
c, d = a * 2, b * 3
all_of = register_multi_grad_hook((c, d), lambda grads: print("all", [None if g is None else g.tolist() for g in grads]))
any_of = register_multi_grad_hook((c, d), lambda grad: print("any", grad.tolist()), mode="any")
(c.sum() + d.sum()).backward(retain_graph=True)
c.sum().backward(retain_graph=True)
all_of.remove()
any_of.remove()
(c * d).sum().backward()
leaf = a.register_post_accumulate_grad_hook(lambda t: print("accumulated", t.grad.tolist()))
(a * 5).sum().backward()
leaf.remove()
u, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
print(torch.autograd.grad((u * 2).sum(), [u, v], allow_unused=True), (u * v).grad_fn)
try:
    register_multi_grad_hook([u], print, mode="some")
except ValueError as e:
    print(e)
try:
    node._saved_nothing
except AttributeError as e:
    print(type(e).__name__)
