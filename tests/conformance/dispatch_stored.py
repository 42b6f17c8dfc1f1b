"""Random registrations and removals on stock and on the embedded dispatcher side by side: after each, the stored slots (also those that
stock leaves stale), the fallthrough masks and the switch to a mask per backend are equal, and so is the key set of a call with random argument keys
in a thread with random included and excluded sets.

    dispatch_stored.py [SEED...]     default: two fixed seeds, 1,000 steps each

On operators made here and on real ones (nothing is called meanwhile), and backend fallbacks. Stock's stored words are read by table_reader.cpp,
built with g++ once per version of PyTorch into PEEL_TEST_CACHE (default: the folder for temporary files).
"""
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings

from dispatch_replay import Replay, bare_operator, fallbacks, feed_operator, under_torch

STEPS = 1000
REAL = ["aten::add.Tensor", "aten::mul.Tensor", "aten::linear", "aten::view", "aten::to.dtype", "aten::empty.memory_format", "aten::conj", "aten::add_.Tensor"]
SCRATCH = 12
# Where registrations contradict each other most; FPGA, HIP, VE have no autograd key of their own.
KEYS = ["CPU", "CUDA", "XLA", "Lazy", "HIP", "FPGA", "Vulkan", "MkldnnCPU", "PrivateUse1", "SparseCPU", "SparseCUDA", "QuantizedCPU", "SparseCsrCPU", "NestedTensorCPU",
        "NestedTensorCUDA", "AutogradCPU", "AutogradCUDA", "AutogradXLA", "AutogradOther", "AutogradNestedTensor", "AutogradPrivateUse1", "ADInplaceOrView",
        "BackendSelect", "Functionalize", "FuncTorchBatched", "AutocastCPU", "AutocastXLA", "Conjugate", "Python", "Meta", "Tracer"]
ALIASES = ["Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "CompositeImplicitAutogradNestedTensor",
           "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"]
FALLBACKS = ["PrivateUse1", "PrivateUse2", "XLA", "SparseCPU", "AutogradIPU", "AutogradPrivateUse1", "AutocastXLA", "NestedTensorCPU", "DeferredInit",
             "AutogradNestedTensor", "CPU"]


def reader():
    """Two functions: stock's stored table as lines, and the key set of a call."""
    import torch
    cache = os.environ.get("PEEL_TEST_CACHE") or tempfile.gettempdir()
    os.makedirs(cache, exist_ok=True)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table_reader.cpp")
    out, package = os.path.join(cache, "table_reader_%s.so" % torch.__version__), os.path.dirname(torch.__file__)
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        made = "%s.%d" % (out, os.getpid())
        subprocess.check_call([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-DNDEBUG", "-fPIC", "-shared", source, "-I" + package + "/include",
                               "-L" + package + "/lib", "-ltorch_cpu", "-lc10", "-Wl,-rpath," + package + "/lib", "-o", made])
        os.replace(made, out)
    library = ctypes.CDLL(out)
    read_table, effective_set = library.read_table, library.effective_set
    effective_set.restype = ctypes.c_uint64
    effective_set.argtypes = [ctypes.c_char_p, ctypes.c_char_p] + [ctypes.c_uint64] * 3
    read_table.restype = ctypes.c_size_t
    read_table.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(1 << 20)

    def stored(op):
        name, _, overload = op.partition(".")
        read_table(name.encode(), overload.encode(), room, len(room))
        return room.value.decode().splitlines()

    def effective(op, *words):
        name, _, overload = op.partition(".")
        return effective_set(name.encode(), overload.encode(), *words)
    return stored, effective


class Walk:
    """Both dispatchers, changed in step."""

    def __init__(self, torch, seed, stored, effective):
        self.c, self.stored, self.effective, self.rng, self.space = torch._C, stored, effective, random.Random(seed), "peel_walk%d" % seed
        self.fallthrough = torch.library.fallthrough_kernel
        self.replay, self.live, self.made, self.refused = Replay(), {}, 0, 0
        self.library = torch.library.Library(self.space, "DEF")
        for i in range(SCRATCH):
            self.library.define("f%d(Tensor x) -> Tensor" % i)
        self.scratch = ["%s::f%d" % (self.space, i) for i in range(SCRATCH)]
        bare = bare_operator(torch)
        for command in fallbacks(bare[1]):
            self.replay.do(*command)
        for op in REAL + self.scratch:
            for command in feed_operator(op, self.c._dispatch_dump(op)):
                self.replay.do(*command)

    def step(self):
        """Changes both; returns the operators to look at and what was done."""
        # As many removals as registrations, once some are there; the newest goes as often as one below it.
        if len(self.live) > 15 and self.rng.random() < 0.5:
            number = self.rng.choice(sorted(self.live))
            raw, ops, what = self.live.pop(number)
            raw.reset()
            self.replay.do("remove", "walk%d" % number)
            return ops, "removed " + what
        self.made += 1
        everything = REAL + self.scratch
        if self.rng.random() < 0.1:
            return self.add_fallback(everything)
        op = self.rng.choice(self.scratch if self.rng.random() < 0.75 else REAL)
        key = self.rng.choice(ALIASES if self.rng.random() < 0.45 else KEYS)
        through = self.rng.random() < 0.25
        space, name = op.split("::")
        raw = self.c._dispatch_library("IMPL", space, "", "walk", self.made)
        raw.impl(name, key, self.fallthrough if through else lambda x: x)
        self.replay.do("impl", "walk%d" % self.made, op, key, "fallthrough boxed" if through else "boxed", "registered at walk:%d" % self.made, "(none)")
        what = "%s at %s%s (walk:%d)" % (op, key, " fallthrough" if through else "", self.made)
        self.live[self.made] = raw, [op], what
        return [op], "registered " + what

    def add_fallback(self, ops):
        key = self.rng.choice(FALLBACKS)
        through = self.rng.random() < 0.4
        raw = self.c._dispatch_library("IMPL", "_", key, "walk", self.made)
        debug = "registered at walk:%d" % self.made
        try:
            if through:
                raw.fallback_fallthrough()
            else:
                raw.fallback(key, lambda op, *a, **k: None, False)
        except RuntimeError as e:
            stock = str(e).splitlines()[0]
            answer = self.replay.send("fallback", "walk%d" % self.made, key, "fallthrough boxed" if through else "boxed", debug)
            assert answer and answer[0].startswith("error Tried to register multiple backend fallbacks for the same dispatch key " + key), (stock, answer)
            self.refused += 1
            return ops, "refused a fallback at " + key
        self.replay.do("fallback", "walk%d" % self.made, key, "fallthrough boxed" if through else "boxed", debug)
        self.live[self.made] = raw, ops, "fallback at %s (walk:%d)" % (key, self.made)
        return ops, "registered fallback at %s%s" % (key, " fallthrough" if through else "")

    def compare(self, ops, what):
        """Number of lines compared; raises at the first that differs."""
        lines = 0
        for op in ops:
            stock, ours = self.stored(op), self.replay.send("stored", op)
            lines += len(stock)
            if stock != ours:
                differ = [line for line in set(stock) ^ set(ours)]
                raise AssertionError("%s, after it was %s:\n  %s" % (op, what, "\n  ".join(
                    ("stock " if d in stock else "ours  ") + d for d in sorted(differ)[:20])))
            for _ in range(3):
                words = self.random_words()
                lines += 1
                asked = self.effective(op, *words)
                answer = self.replay.send("effective", op, *map(hex, words))
                if answer != ["set " + hex(asked)]:
                    raise AssertionError("%s, after it was %s: a call with keys, included, excluded %s: stock %s, ours %s"
                                         % (op, what, [hex(w) for w in words], hex(asked), answer))
        return lines

    def random_words(self):
        """Keys of a tensor, or 0 for an undefined one; included; excluded: few bits each, all bits possible."""
        bits = 62
        few = lambda n: sum({1 << self.rng.randrange(bits) for _ in range(n)})  # noqa: E731
        python = (1 << 28) | (1 << 56)  # construction takes these away
        keys = self.rng.choice([0x9400010001, 0x1400018000, few(4) | 1 << self.rng.randrange(16)]) & ~python
        return (0 if self.rng.random() < 0.1 else keys), self.rng.choice([0x404000000, few(3)]), self.rng.choice([0x1ff8000000000, few(3)])

    def stale(self):
        """Slots whose stored kernel is not the computed one, over all operators: the walk must meet some."""
        count = 0
        for op in self.scratch:
            computed = {}
            for line in self.c._dispatch_dump_table(op).splitlines():
                key, _, rest = line.partition(": ")
                computed[key] = "fallthrough" if rest.startswith("fallthrough ") else rest.rpartition(" [")[0]
            kept = dict(line.split("=", 1) for line in self.stored(op) if "=" in line)
            count += sum(computed.get(k) != kept.get(k) for k in computed.keys() | kept.keys())
        return count

    def end(self):
        for raw, _, _ in self.live.values():
            raw.reset()
        self.replay.close()


def main():
    seeds = [int(s) for s in sys.argv[1:]] or [20260, 31]
    if len(seeds) > 1:  # a process each: a walk leaves stock's real operators with stale slots
        return int(any([subprocess.call([sys.executable, __file__, str(s)]) for s in seeds]))
    import torch
    warnings.simplefilter("ignore")  # stock says once that a kernel is overridden
    began = time.monotonic()
    stored, effective = reader()
    for seed in seeds:
        walk = Walk(torch, seed, stored, effective)
        lines = stale = per_backend = 0
        try:
            lines += walk.compare(REAL + walk.scratch, "made")
            for number in range(STEPS):
                ops, what = walk.step()
                lines += walk.compare(ops, "step %d: %s" % (number, what))
                per_backend += any("per_backend 1" in stored(op) for op in ops)
                if number % 10 == 0:
                    stale += walk.stale()
            lines += walk.compare(REAL + walk.scratch, "at the end")
        except AssertionError as e:
            print("seed %d: %s" % (seed, e))
            return 1
        finally:
            walk.end()
        print("seed %d: %d steps (%d refused by both), %d stored slots and masks equal; stale slots met: %d; steps with a mask per backend: %d"
              % (seed, STEPS, walk.refused, lines, stale, per_backend))
        if not stale or not per_backend:
            print("the walk met no stale slot or no mask per backend: it shows too little")
            return 1
    print("torch %s, %.1f s" % (torch.__version__, time.monotonic() - began))
    return 0


if __name__ == "__main__":
    under_torch(main)
