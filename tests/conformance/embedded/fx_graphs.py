"""Graphs made and changed by hand, modules of them, and what is refused."""
import copy
import operator
import warnings

import torch
import torch.nn as nn
from torch import fx
from torch.fx import Graph, GraphModule, symbolic_trace
from torch.fx.node import map_arg


def attempt(what, f):
    try:
        r = f()
        print(what, "->", type(r).__name__)
        return r
    except BaseException as e:
        print(what, type(e).__name__, e)


torch.manual_seed(0)
g = Graph(); x = g.placeholder("x"); y = g.placeholder("y", type_expr=torch.Tensor, default_value=2)
a = g.call_function(torch.add, (x, y)); b = g.call_method("relu", (a,)); c = g.call_function(operator.mul, (b, 3), name="mine"); g.output((b, c))
print(g); gm = GraphModule(nn.Module(), g); print(gm.code); print(gm(torch.ones(2)))
with g.inserting_after(a): n1 = g.call_function(torch.neg, (a,)); n2 = g.call_function(torch.abs, (n1,))
print(list(g.nodes), len(g.nodes), a.next, a.prev, list(reversed(g.nodes)))
attempt("lint", g.lint)
n1.append(n2); attempt("lint", g.lint)
b.replace_input_with(a, n2); gm.recompile(); print(gm.code, a.users, n2.users, list(b._input_nodes))
attempt("erase", lambda: g.erase_node(a))
with g.inserting_before(b): dead = g.create_node("call_function", torch.exp, (x,), {})
print(g.eliminate_dead_code(), g); print(g.eliminate_dead_code())
print(g.find_nodes(op="call_function", target=torch.neg), g.find_nodes(op="placeholder"), g.output_node(), a < b, sorted([b, a]))
attempt("mut", lambda: c.kwargs.update(a=1)); attempt("mut2", lambda: map_arg([1, x], lambda n: n).append(3))
c.args = (b, [x, {"k": y}], slice(x, None)); print(c.format_node(), c.all_input_nodes, type(c.args[1]).__name__); c.args = (b, 3)
c.update_arg(1, 5); c.update_kwarg("z", x); print(c.args, c.kwargs, x.users); c.kwargs = {}; print(x.users)
print(a.op, a.name, a.target is torch.add, a.type, a.meta, a.graph is g, repr(a), str(a))
attempt("badop", lambda: g.create_node("foo", "x")); attempt("badtarget", lambda: g.call_function("x"))
g3 = copy.deepcopy(g); print(g3, g3.owning_module)
gm = symbolic_trace(lambda x: x.relu())
for n in list(gm.graph.nodes):
    if n.op == "call_method":
        with gm.graph.inserting_after(n):
            new = gm.graph.call_function(torch.sigmoid, (n,)); n.replace_all_uses_with(new, delete_user_cb=lambda u: u is not new)
            p = fx.Proxy(new); q = (p + 1).clamp(min=0); print(q, q.node)
print(gm.graph); gm.recompile(); print(gm.code)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); gm.graph.get_attr("nothing.w"); print([str(v.message) for v in w])
attempt("callmod", lambda: gm.graph.call_module("nothing")); attempt("lint", gm.graph.lint)
attempt("gm1", lambda: GraphModule(3, Graph())); 
gg = Graph(); gg.output(gg.call_module("a.b", (gg.placeholder("x"),))); attempt("gm2", lambda: GraphModule({}, gg)); m = GraphModule({"a.b": nn.ReLU()}, gg, "Named"); print(m, m(torch.ones(1)), type(m).__name__, isinstance(m, GraphModule), m.training)
m2 = copy.copy(m); print(m2, m2.graph is m.graph); m.meta["k"] = 1; print(copy.deepcopy(m).meta)
import torch.fx.graph_module, torch.fx.graph, torch.fx.proxy, torch.fx.immutable_collections
print(m.state_dict(), m.code == m.graph.python_code("self").src, sorted(m.graph.python_code("self").globals))
def bad(x): return x.view(7)
bm = symbolic_trace(bad); attempt("bad", lambda: bm(torch.ones(3)))
