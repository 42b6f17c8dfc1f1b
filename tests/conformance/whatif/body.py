"""A program whose body runs as it is, or with one change after another really made. Which: the names of changes on the command line; none: as it is.

Hops are told apart by calls of peel_whatif::mark: n for the first half of the body under the n-th change, n + 1000 for the second half, 0 between.
"""
import contextlib
import sys
import warnings

import torch

warnings.simplefilter("ignore")
KEEP = {}  # registrations of our own operators, each in a library of its own: "twice@CPU" -> library
OPS = torch.library.Library("peel_whatif", "DEF")
for schema in ("mark(int n) -> ()", "twice(Tensor x) -> Tensor", "comp(Tensor x) -> Tensor", "meta_only(Tensor x) -> Tensor", "withgrad(Tensor x) -> Tensor", "explicit(Tensor x) -> Tensor"):
    OPS.define(schema)
ops = torch.ops.peel_whatif


def withgrad_autograd(x):
    with torch._C._AutoDispatchBelowAutograd():
        return ops.withgrad(x)


OWN = {
    "mark@CompositeExplicitAutograd": lambda n: None,
    "twice@CPU": lambda x: torch.empty(2, 3),
    "comp@CompositeImplicitAutograd": lambda x: torch.sin(x),
    "meta_only@Meta": lambda x: torch.empty_like(x),
    "withgrad@CPU": lambda x: torch.empty(2, 3),
    "withgrad@AutogradCPU": withgrad_autograd,
    "explicit@CompositeExplicitAutograd": lambda x: torch.cos(x.detach()),
}


def put(name):
    op, key = name.split("@")
    KEEP[name] = torch.library.Library("peel_whatif", "IMPL")
    KEEP[name].impl(op, OWN[name], key)


for name in OWN:
    put(name)


def like_first(*args, **kwargs):
    return torch.zeros_like(args[0])


@contextlib.contextmanager
def registered(op, key, kernel=like_first):
    namespace, name = op.split("::")
    lib = torch.library.Library(namespace, "IMPL")
    lib.impl(name, kernel, key)
    try:
        yield
    finally:
        lib._destroy()


@contextlib.contextmanager
def fallback(key):
    lib = torch.library.Library("_", "IMPL")
    lib.fallback(lambda op, *args, **kwargs: torch.zeros(2, 3), key)
    try:
        yield
    finally:
        lib._destroy()


@contextlib.contextmanager
def removed(name):
    KEEP.pop(name)._destroy()
    try:
        yield
    finally:
        put(name)


def key_set(key):
    return torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))


def excluded(key):
    return torch._C._ExcludeDispatchKeyGuard(key_set(key))


def included(key):
    return torch._C._IncludeDispatchKeyGuard(getattr(torch._C.DispatchKey, key))


@contextlib.contextmanager
def both(*all):
    with contextlib.ExitStack() as stack:
        for one in all:
            stack.enter_context(one)
        yield


fallthrough = torch.library.fallthrough_kernel
cast = lambda: torch.autocast("cpu", torch.bfloat16)  # noqa: E731
nothing = contextlib.nullcontext
# name -> (where: whole, first or second half of the body; what `peel whatif` is asked; how the change is really made)
CHANGES = {
    "no_grad": ("whole", ["--enter", "no_grad"], torch.no_grad),
    "enable_grad": ("whole", ["--enter", "enable_grad"], torch.enable_grad),
    "inference": ("whole", ["--enter", "inference_mode"], torch.inference_mode),
    "inference_first": ("first", ["--enter", "inference_mode"], torch.inference_mode),
    "inference_second": ("second", ["--enter", "inference_mode"], torch.inference_mode),
    "no_grad_second": ("second", ["--enter", "no_grad"], torch.no_grad),
    "autocast": ("whole", ["--enter", "autocast:cpu"], cast),
    "autocast_first": ("first", ["--enter", "autocast:cpu"], cast),
    "autocast_in_inference": ("whole", ["--enter", "autocast:cpu", "--enter", "inference_mode"], lambda: both(cast(), torch.inference_mode())),
    "exclude_autograd": ("whole", ["--exclude", "AutogradCPU"], lambda: excluded("AutogradCPU")),
    "exclude_view": ("whole", ["--exclude", "ADInplaceOrView"], lambda: excluded("ADInplaceOrView")),
    "exclude_select": ("second", ["--exclude", "AutocastCPU"], lambda: excluded("AutocastCPU")),
    "include_negative": ("whole", ["--include", "Negative"], lambda: included("Negative")),
    "include_conjugate": ("second", ["--include", "Conjugate"], lambda: included("Conjugate")),
    "add_cpu": ("whole", ["--register", "aten::add.Tensor@CPU"], lambda: registered("aten::add.Tensor", "CPU")),
    "exp_autograd": ("whole", ["--register", "aten::exp@AutogradCPU"], lambda: registered("aten::exp", "AutogradCPU")),
    "mul_view": ("whole", ["--register", "aten::mul.Tensor@ADInplaceOrView"], lambda: registered("aten::mul.Tensor", "ADInplaceOrView")),
    "exp_explicit": ("whole", ["--register", "aten::exp@CompositeExplicitAutograd"], lambda: registered("aten::exp", "CompositeExplicitAutograd")),
    "exp_falls": ("whole", ["--fallthrough", "aten::exp@AutogradCPU"], lambda: registered("aten::exp", "AutogradCPU", fallthrough)),
    "view_falls": ("whole", ["--fallthrough", "aten::view@ADInplaceOrView"], lambda: registered("aten::view", "ADInplaceOrView", fallthrough)),
    "matmul_cpu": ("whole", ["--register", "aten::matmul@CPU"], lambda: registered("aten::matmul", "CPU")),
    "linear_autograd": ("whole", ["--register", "aten::linear@AutogradCPU"], lambda: registered("aten::linear", "AutogradCPU")),
    "linear_composite": ("whole", ["--register", "aten::linear@CompositeImplicitAutograd"], lambda: registered("aten::linear", "CompositeImplicitAutograd")),
    "linear_autocast": ("whole", ["--register", "aten::linear@AutocastCPU", "--enter", "autocast:cpu"], lambda: both(registered("aten::linear", "AutocastCPU"), cast())),
    "twice_autograd": ("whole", ["--register", "peel_whatif::twice@AutogradCPU"], lambda: registered("peel_whatif::twice", "AutogradCPU")),
    "twice_autograd_alias": ("whole", ["--register", "peel_whatif::twice@Autograd"], lambda: registered("peel_whatif::twice", "Autograd")),
    "twice_composite": ("whole", ["--register", "peel_whatif::twice@CompositeImplicitAutograd"], lambda: registered("peel_whatif::twice", "CompositeImplicitAutograd")),
    "comp_cpu": ("whole", ["--register", "peel_whatif::comp@CPU"], lambda: registered("peel_whatif::comp", "CPU")),
    "comp_explicit": ("whole", ["--register", "peel_whatif::comp@CompositeExplicitAutograd"], lambda: registered("peel_whatif::comp", "CompositeExplicitAutograd")),
    "found_cpu": ("whole", ["--register", "peel_whatif::meta_only@CPU"], lambda: registered("peel_whatif::meta_only", "CPU")),
    "found_explicit": ("whole", ["--register", "peel_whatif::meta_only@CompositeExplicitAutograd"], lambda: registered("peel_whatif::meta_only", "CompositeExplicitAutograd")),
    "found_composite": ("whole", ["--register", "peel_whatif::meta_only@CompositeImplicitAutograd"], lambda: registered("peel_whatif::meta_only", "CompositeImplicitAutograd")),
    "not_found_cuda": ("whole", ["--register", "peel_whatif::meta_only@CUDA"], lambda: registered("peel_whatif::meta_only", "CUDA")),
    "fallback_cpu": ("whole", ["--register", "*@CPU"], lambda: fallback("CPU")),
    "twice_removed": ("whole", ["--remove", "peel_whatif::twice@CPU"], lambda: removed("twice@CPU")),
    "comp_removed": ("whole", ["--remove", "peel_whatif::comp@CompositeImplicitAutograd"], lambda: removed("comp@CompositeImplicitAutograd")),
    "explicit_removed": ("whole", ["--remove", "peel_whatif::explicit@CompositeExplicitAutograd"], lambda: removed("explicit@CompositeExplicitAutograd")),
    "withgrad_removed": ("whole", ["--remove", "peel_whatif::withgrad@AutogradCPU"], lambda: removed("withgrad@AutogradCPU")),
    "withgrad_falls": ("whole", ["--fallthrough", "peel_whatif::withgrad@AutogradCPU"], lambda: registered("peel_whatif::withgrad", "AutogradCPU", fallthrough)),
    "cpu_in_inference": ("whole", ["--register", "aten::add.Tensor@CPU", "--enter", "inference_mode"], lambda: both(registered("aten::add.Tensor", "CPU"), torch.inference_mode())),
}
# The body runs under a mode as it is recorded; then without it.
LEAVES = {
    "leave_inference": (["--leave", "inference_mode"], torch.inference_mode),
    "leave_autocast": (["--leave", "autocast:cpu"], cast),
    "leave_no_grad": (["--leave", "no_grad"], torch.no_grad),
}


def attempt(function):
    """One operator; what it raises is no concern of the others."""
    try:
        return function()
    except (RuntimeError, NotImplementedError):
        return None


def body(number, first=nothing, second=nothing):
    w = torch.full((2, 3), 0.5)
    v = torch.full((2, 3), 0.25)
    w.requires_grad_()
    made = {}
    with first():
        ops.mark(number)
        x = made["x"] = torch.ones(2, 3)
        made["y"] = x.clone()
        made["z"] = x.view(6)
        for f in (lambda: torch.add(x, w), lambda: torch.mul(x, x), lambda: torch.exp(w), lambda: torch.exp(v), lambda: v.add_(x), lambda: x.mul_(v), lambda: made["z"].add_(1.0),
                  lambda: torch.matmul(x, v.t()), lambda: torch.nn.functional.linear(x, w), lambda: ops.twice(w), lambda: ops.comp(w), lambda: ops.comp(x), lambda: ops.withgrad(x),
                  lambda: ops.explicit(x), lambda: ops.meta_only(x), lambda: w.detach(), lambda: w.view(6), lambda: torch.zeros(3), lambda: torch.randn(2)):
            attempt(f)
    ops.mark(0)
    with second():
        ops.mark(number + 1000)
        x, y, z = made["x"], made["y"], made["z"]
        for f in (lambda: torch.add(y, 1.0), lambda: torch.mul(y, y), lambda: y.mul_(y), lambda: z.add_(1.0), lambda: x.view(6), lambda: z.view(3, 2), lambda: torch.add(y, w), lambda: y.detach(),
                  lambda: torch.exp(z), lambda: torch.matmul(y, v.t()), lambda: torch.nn.functional.linear(y, v), lambda: ops.twice(y), lambda: ops.comp(y), lambda: ops.withgrad(y),
                  lambda: ops.explicit(z), lambda: ops.meta_only(z), lambda: torch.sum(y), lambda: torch.cat([y, v])):
            attempt(f)
    ops.mark(0)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    if chosen == ["as_it_is"]:
        body(1)
    elif chosen and chosen[0] == "under":
        body(1, LEAVES[chosen[1]][1], LEAVES[chosen[1]][1])
    else:
        for n, (name, (where, _, make)) in enumerate(CHANGES.items()):
            body(n + 1, nothing if where == "second" else make, nothing if where == "first" else make)
