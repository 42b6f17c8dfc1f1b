"""Keys, key sets, aliases, and the thread-local sets in every mode: the embedded engine's equal stock's, word for word."""
import contextlib
import difflib

from dispatch_replay import Replay, under_torch

FULL_BITS = (1 << 62) - 1


def stock_keys(torch):
    c = torch._C
    out = []
    word = lambda s: hex(s.raw_repr())  # noqa: E731
    keys = [c.DispatchKey(i) for i in range(156)]
    for i, k in enumerate(keys):
        if i == 47:  # no key: it counts them
            continue
        out.append("name %d %s" % (i, c._dispatch_key_name(k)))
        out.append("set %d %s" % (i, word(c.DispatchKeySet(k))))
        if 0 < i < 47:
            out.append("after %d %s" % (i, word(c._dispatch_keyset_full_after(k))))
        out.append("behind %d %s" % (i, word(c._dispatch_get_backend_keyset_from_autograd(k))))
        out.append("highest %d %d" % (i, int(c.DispatchKeySet(k).highestPriorityTypeId())))
        for a in range(150, 156):
            if c._dispatch_is_included_in_alias(k, keys[a]):
                out.append("alias %d %d" % (i, a))
    out.append("full " + word(c._dispatch_keyset_full()))
    out.append("after_autograd " + word(c._after_autograd_keyset))
    out.append("after_ADInplaceOrView " + word(c._after_ADInplaceOrView_keyset))
    out.append("autogradother_backends " + word(c._dispatch_autogradother_backends))
    state = 20260

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (state >> 1) & FULL_BITS

    make = c.DispatchKeySet.from_raw_repr
    for i in range(300):
        a, b = draw(), draw() & draw()
        s = make(draw() & draw() & draw() & draw())
        out.append("random %d %s %s %s %d %s" % (i, word(make(a) | make(b)), word(make(a) - make(b)), word(make(a) & make(b)), int(s.highestPriorityTypeId()),
                                                 c._dispatch_keyset_to_string(s)))
    return out


def stock_modes(torch):
    c = torch._C
    out = []

    def say(mode):
        out.append("%s %s %s %d %d" % (mode, hex(c._dispatch_tls_local_include_set().raw_repr()), hex(c._dispatch_tls_local_exclude_set().raw_repr()),
                                       torch.is_grad_enabled(), torch.is_inference_mode_enabled()))

    def inside(mode, *contexts):
        with contextlib.ExitStack() as stack:
            for one in contexts:
                stack.enter_context(one)
            say(mode)

    key = c._parse_dispatch_key
    say("default")
    with torch.no_grad():
        say("no_grad")
        inside("no_grad/enable_grad", torch.enable_grad())
        inside("no_grad/inference_mode(False)", torch.inference_mode(False))
    with torch.inference_mode():
        say("inference_mode")
        inside("inference_mode/enable_grad", torch.enable_grad())
        inside("inference_mode/inference_mode(False)", torch.inference_mode(False))
        torch.vmap(lambda x: (say("inference_mode/functorch"), x)[1])(torch.ones(2))
    say("default again")
    # The CUDA key by its own guard: autocast for a device that is not there turns itself off.
    with torch.autocast("cpu", torch.bfloat16):
        say("autocast cpu")
        inside("autocast cpu/off", torch.autocast("cpu", enabled=False))
        c._dispatch_tls_set_dispatch_key_excluded(key("AutocastCUDA"), False)
        say("autocast cpu/cuda")
        c._dispatch_tls_set_dispatch_key_excluded(key("AutocastCUDA"), True)
        inside("autocast cpu/inference_mode", torch.inference_mode())
    torch.vmap(lambda x: (say("functorch"), torch.func.grad(lambda y: (say("functorch/functorch"), y)[1])(x))[1])(torch.ones(2))
    torch.func.grad(lambda x: (say("grad"), x.sum())[1])(torch.ones(2))
    torch.func.jvp(lambda x: (say("jvp"), x)[1], (torch.ones(2),), (torch.ones(2),))
    torch.func.functionalize(lambda x: (say("functionalize"), x)[1])(torch.ones(2))

    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    inside("fake tensor mode", FakeTensorMode())

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if self.first:
                self.first = False
                say("python handler")
            return func(*args, **(kwargs or {}))
    mode = Mode()
    mode.first = True
    x = torch.ones(1)
    with mode:
        say("python mode")
        inside("python mode/inference_mode", torch.inference_mode())
        x.sin()
    inside("python dispatcher", c._EnablePythonDispatcher())
    inside("pre-dispatch", c._EnablePreDispatch())
    with c._AutoDispatchBelowAutograd():
        say("below autograd")
        inside("below autograd/inference_mode(False)", torch.inference_mode(False))
        say("below autograd again")
    inside("below ADInplaceOrView", c._AutoDispatchBelowADInplaceOrView())
    with c._IncludeDispatchKeyGuard(key("Tracer")):
        say("include Tracer")
        c._dispatch_tls_set_dispatch_key_included(key("Batched"), True)
        say("include Tracer, set Batched")
    say("after include")
    with c._ExcludeDispatchKeyGuard(c.DispatchKeySet(key("AutogradCUDA"))):
        say("exclude AutogradCUDA")
        c._dispatch_tls_set_dispatch_key_excluded(key("AutocastCPU"), False)
        say("exclude AutogradCUDA, reset AutocastCPU")
    say("after exclude")
    inside("force", c._ForceDispatchKeyGuard(c.DispatchKeySet(key("CPU")), c.DispatchKeySet(key("AutogradCPU"))))
    say("end")
    return out


def main():
    import torch
    replay = Replay()
    differing = 0
    counts = []
    for what, stock in (("keys", stock_keys(torch)), ("modes", stock_modes(torch))):
        ours = replay.send(what)
        counts.append(len(stock))
        for line in difflib.ndiff(stock, ours):
            if line[0] in "-+":
                differing += 1
                print(line)
    replay.close()
    print("torch %s: %d facts about keys and sets, thread-local state in %d places; %d differ" % (torch.__version__, *counts, differing))
    return 1 if differing else 0


if __name__ == "__main__":
    under_torch(main)
