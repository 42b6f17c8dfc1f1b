"""What can and cannot be traced: control flow, functions that stay calls, arguments that are fixed."""
import math
from collections import namedtuple
from math import floor
from typing import List, Optional, Tuple

import torch
from torch import fx
from torch.fx import symbolic_trace


def attempt(what, f):
    try:
        r = f()
        print(what, "->", type(r).__name__)
        return r
    except BaseException as e:
        print(what, type(e).__name__, e)


def branch(x):
    if x.sum() > 0: return x
    return -x
def loop(x):
    for r in x: print(r)
def star(x): return torch.add(*x)
def length(x): return len(x)
def unpack(x):
    a, (b, c) = x
    return a + b * c
def tofloat(x): return float(x.sum())
def rng(x): return [x for _ in range(x.size(0))]
def contains(x): return 1 in x
attempt("branch", lambda: symbolic_trace(branch)); attempt("loop", lambda: symbolic_trace(loop)); attempt("star", lambda: symbolic_trace(star)); attempt("len", lambda: symbolic_trace(length))
g = attempt("unpack", lambda: symbolic_trace(unpack)); print(g.code)
attempt("float", lambda: symbolic_trace(tofloat)); attempt("range", lambda: symbolic_trace(rng)); attempt("in", lambda: symbolic_trace(contains))
attempt("int", lambda: symbolic_trace(lambda x: int(x))); attempt("index", lambda: symbolic_trace(lambda x: [1,2][x])); attempt("kwargs", lambda: symbolic_trace(lambda x: dict(**x)))
attempt("isnone", lambda: symbolic_trace(lambda x: 1 if x is None else x)); attempt("and", lambda: symbolic_trace(lambda x, y: x and y)); attempt("not", lambda: symbolic_trace(lambda x: not x))
attempt("setarg", lambda: symbolic_trace(lambda x: x + object()))
def inpl(x):
    x += 1; x -= 2; x[0] = 3
    return x
g=attempt("setitem", lambda: symbolic_trace(inpl)); 
def inpl(x):
    x += 1; x @= x; x.add_(2)
    x = x ** 2 % 3 // 4; y = +x; z = x << 1; w = x & 3 | 4 ^ y
    return abs(x) <= z, x != w, round(3.2), y.size()[0], x.shape[1:], x is None
g=attempt("inpl", lambda: symbolic_trace(inpl)); print(g.code); print(g.graph)
@fx.wrap
def leaf(a, b=2):
    if a.sum() > 0: return a * b
    return a
fx.wrap("len")
def wrapped(x, y: torch.Tensor, z: List[torch.Tensor] = [], w: Optional[int] = None) -> Tuple[torch.Tensor, int]:
    n = len(x)
    return leaf(x, b=3) + y, floor(n) + math.sqrt(n)
g = symbolic_trace(wrapped); print(g.code); print(g.graph); print(g(torch.ones(3), torch.ones(3)))
try:
    def inner(): fx.wrap("foo")
    inner()
except Exception as e: print(type(e).__name__, e)
P = namedtuple("P", "a b")
def named(x, d): return P(x + d["k"], [d["l"][0], x]).a
attempt("named", lambda: print(symbolic_trace(named).code))
def conc(x, flag=True, other=None, k=3, s="a"):
    if flag: return x * k
    return x
g = attempt("conc", lambda: symbolic_trace(conc, concrete_args={"flag": True, "other": None, "k": 3, "s": "a"})); print(g.code); print(g(torch.ones(2), True, None, 3, "a"))
attempt("concbad", lambda: g(torch.ones(2), False, None, 3, "a"))
def pyt(x, d):
    return {"r": x + d["a"] * d["b"][0], "q": d["b"][1]}
g = symbolic_trace(pyt, concrete_args={"d": {"a": fx.PH, "b": [fx.PH, fx.PH]}}); print(g.code); print(g(torch.ones(2), {"a": torch.ones(2), "b": [torch.ones(2), 5]})); print(g.graph)
def va(x, *args, k=1, **kw): return x + args[0] * kw["z"] + k
g = symbolic_trace(va); print(g.code); print(g.graph)
