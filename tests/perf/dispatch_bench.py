"""Nanoseconds per hop of a call through two layers: the embedded dispatcher against stock's, same operator, same kernels, side by side.

    dispatch_bench.py [--rounds N]      PEEL_DISPATCH_BENCH: path of the module (default: build/tests/perf/libpeel_dispatch_bench.so)

Build that first: ninja -C build peel_dispatch_bench. Both are shared libraries in one process; rounds alternate between them, and the least counts.
Prints; never decides by the clock whether something passed.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402


def build():
    """Path of stock's side."""
    import torch
    cache = os.environ.get("PEEL_TEST_CACHE") or tempfile.gettempdir()
    os.makedirs(cache, exist_ok=True)
    source = os.path.join(HERE, "dispatch_bench_stock.cpp")
    out, package = os.path.join(cache, "dispatch_bench_%s.so" % torch.__version__), os.path.dirname(torch.__file__)
    newest = max(os.path.getmtime(os.path.join(HERE, f)) for f in ("dispatch_bench_stock.cpp", "dispatch_bench.h"))
    if not os.path.exists(out) or os.path.getmtime(out) < newest:
        subprocess.check_call([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", source, "-I" + package + "/include",
                               "-L" + package + "/lib", "-ltorch_cpu", "-lc10", "-Wl,-rpath," + package + "/lib", "-o", out + ".new"])
        os.replace(out + ".new", out)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    if os.environ.get("PEEL_DISPATCH_CHILD") != "1":  # again, in the Python that has PyTorch
        harness.need(program=False)
        return subprocess.call([harness.python(), *sys.argv], env=harness.environment(PEEL_DISPATCH_CHILD="1"))
    import torch
    module = os.environ.get("PEEL_DISPATCH_BENCH") or os.path.join(harness.ROOT, "build", "tests", "perf", "libpeel_dispatch_bench.so")
    sides = {"stock": ctypes.CDLL(build()), "embedded": ctypes.CDLL(module)}
    best = {side: [1e9] * 4 for side in sides}
    for _ in range(rounds):
        for side, library in sides.items():
            result = (ctypes.c_double * 4)(*[1e9] * 4)
            library.bench(result)
            best[side] = [min(a, b) for a, b in zip(best[side], result)]
    print("torch %s\n%-36s %9s %9s %8s" % (torch.__version__, "nanoseconds", "embedded", "stock", "ratio"))
    for i, title, hops in ((0, "call of two layers, per hop", 2), (2, "boxed call of two layers, per hop", 2), (1, "redispatch to one layer, per hop", 1)):
        ours, theirs = best["embedded"][i] / hops, best["stock"][i] / hops
        print("%-36s %9.1f %9.1f %8.2f" % (title, ours, theirs, ours / theirs))
    print("%-36s %9.1f" % ("call with an idle observer, per hop", best["embedded"][3] / 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
