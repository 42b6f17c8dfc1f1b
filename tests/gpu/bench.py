"""What recording costs a loop that launches tiny kernels: stock, Peel, PyTorch's profiler with CUDA (plain; with shapes, stack and memory, which Peel's
standard records too), side by side in one run. The least of many short batches counts. Prints; decides nothing.

    bench.py [--rounds N]      needs a GPU
"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

CALLS, BATCHES, TIMES = 500, 8, 6
PROFILERS = ("profiler", "profiler, all")


def worker(way):
    import contextlib
    import torch
    a = torch.zeros(4, device="cuda")
    b = torch.zeros(4, device="cuda")
    loops = {"add_": lambda: a.add_(1), "a + b": lambda: a + b, "view, mul_": lambda: a.view(2, 2).mul_(1.0)}
    result = {}
    for name, f in loops.items():
        for _ in range(20000):  # by then the rings have been written once
            f()
        torch.cuda.synchronize()
        best = 1e18
        for _ in range(TIMES):
            context = contextlib.nullcontext()
            if way in PROFILERS:
                full = way != "profiler"
                context = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA], record_shapes=full, with_stack=full,
                                                 profile_memory=full)
            with context:
                f()
                torch.cuda.synchronize()
                for _ in range(BATCHES):
                    start = time.perf_counter_ns()
                    for _ in range(CALLS):
                        f()
                    best = min(best, (time.perf_counter_ns() - start) / CALLS)
                    torch.cuda.synchronize()
            time.sleep(0.1)
        result[name] = best
    print(json.dumps(result))


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2])
    rounds = int(sys.argv[2]) if sys.argv[1:2] == ["--rounds"] else 2
    harness.need()
    if subprocess.run([harness.python(), "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"], capture_output=True).returncode:
        print("skipped: there is no GPU that PyTorch could use")
        return harness.SKIPPED
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for way in ("stock", "peel keys", "peel standard", *PROFILERS):
                command = [os.path.abspath(__file__), "--worker", way]
                if way.startswith("peel"):
                    status, out, err = harness.record(os.path.join(folder, "b.peel"), command, ["--detail", way.split()[1]])
                else:
                    status, out, err = harness.run([harness.python(), *command])
                if status:
                    sys.exit("%s ended with %d: %s" % (way, status, err[-1000:]))
                for name, ns in json.loads(out.splitlines()[-1]).items():
                    best.setdefault(way, {})[name] = min(ns, best.get(way, {}).get(name, 1e18))
    names = list(best["stock"])
    print("%-22s" % "ns a call" + "".join("%18s" % n for n in names))
    for way, row in best.items():
        print("%-22s" % way + "".join("%18s" % ("%.0f (x%.2f)" % (row[n], row[n] / best["stock"][n])) for n in names))
    print("over stock, times as dear as peel standard")
    for way in PROFILERS:
        print("%-22s" % way + "".join("%18.2f" % ((best[way][n] - best["stock"][n]) / max(1.0, best["peel standard"][n] - best["stock"][n])) for n in names))


if __name__ == "__main__":
    sys.exit(main())
