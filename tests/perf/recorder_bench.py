"""What recording costs, against stock PyTorch and against what PyTorch ships, side by side in one run.

    recorder_bench.py [--rounds N] [--seconds S]      (PEEL, PEEL_TEST_PYTHON as for the tests)

After that the parts that need no PyTorch, when they are built (`ninja -C build peel_benches`): rings to file, opening 1 M hops, frames at 1 M hops.

Every way runs in a process of its own; rounds alternate between the ways, and the least of the rounds counts. Numbers are nanoseconds an operator
call, overheads nanoseconds a call and a hop over stock. Between batches the program sleeps, so that rings have room: the sustained rate, where they
have not, is measured apart. Prints; never decides by the clock whether something passed.
"""
import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

BATCH, BATCHES = 2000, 12
WAYS = ("stock", "off", "keys", "standard", "breakpoint", "profiler", "profiler shapes+stack", "TorchDispatchMode", "DebugMode")
RECORDED = {"off": "standard", "keys": "keys", "standard": "standard", "breakpoint": "standard"}
BREAK = "op:nothing_has_this_name key:CPU"  # of the way "breakpoint": looked at at every hop, never hit
BOUNDS = {"off": "nothing measurable", "keys": "<= 30 ns a hop", "standard": "<= 90 ns a hop", "breakpoint": "one set that no hop matches; without one: standard"}


# ---- in the measured process

def workloads(torch):
    a, b = torch.randn(2, 2), torch.randn(2, 2)
    g = torch.randn(2, 2, requires_grad=True)
    w, bias = torch.randn(2, 2), torch.randn(2)
    linear = torch.nn.functional.linear
    return {"add": lambda: a.add(b), "add, grad": lambda: g.add(b), "view": lambda: a.view(-1), "add_": lambda: a.add_(b), "linear": lambda: linear(a, w, bias)}


def timed(f, n):
    start = time.perf_counter_ns()
    for _ in range(n):
        f()
    return (time.perf_counter_ns() - start) / n


def way_of(torch, name):
    """A context in which the workload is seen by that means."""
    import contextlib
    if name.startswith("profiler"):
        full = "stack" in name
        return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=full, with_stack=full)
    if name == "TorchDispatchMode":
        from torch.utils._python_dispatch import TorchDispatchMode

        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                log.append(str(func))
                return func(*args, **(kwargs or {}))
        log = []
        return Log()
    if name == "DebugMode":
        from torch.utils._debug_mode import DebugMode
        return DebugMode()
    return contextlib.nullcontext()


def agent_off():
    """Stops the recorder that this process was started with; its wrappers stay."""
    import gc
    import types
    for module in gc.get_objects():
        if type(module) is types.ModuleType and module.__name__ == "peel_agent":
            module.stop()
            return
    raise SystemExit("there is no agent in this process")


def worker(way, seconds):
    import torch
    torch.set_num_threads(1)
    if way == "off":
        agent_off()
    if way == "count":  # one call of each, between calls of an operator that nothing else here uses
        for f in workloads(torch).values():
            torch.eye(1)
            f()
        torch.eye(1)
        torch.eye(1)
        return
    if way == "sustained":
        f = workloads(torch)["linear"]
        for _ in range(1000):
            f()
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            for _ in range(1000):
                f()
            n += 1000
        print(json.dumps({"calls": n, "seconds": time.perf_counter() - start}))
        return
    slow = way not in ("stock", *RECORDED)
    batch = BATCH // 10 if way == "DebugMode" else BATCH
    result = {}
    for name, f in workloads(torch).items():
        timed(f, 200)
        best = 1e18
        for _ in range(BATCHES // 3 if slow else BATCHES):
            with way_of(torch, way):
                timed(f, 50)
                best = min(best, timed(f, batch))
            if way in RECORDED:
                time.sleep(0.05)
        result[name] = best
    print(json.dumps(result))


# ---- in the measuring process

def run_worker(way, folder, seconds=0.0, detail=None):
    """(what the worker printed, path of the session or None)"""
    command = [os.path.abspath(__file__), "--worker", way, "--seconds", str(seconds)]
    session = os.path.join(folder, "bench.peel")
    if detail is None:
        status, out, err = harness.run([harness.python(), *command])
        session = None
    else:
        status, out, err = harness.record(session, command, ["--detail", detail, *(("--break", BREAK) if way == "breakpoint" else ())])
    if status != 0:
        raise SystemExit("%s ended with %d: %s" % (way, status, err))
    return json.loads(out) if out.strip() else None, session


def query(session, sql):
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def count_hops(session, names):
    """Hops of one call of each workload, from a recording of the worker "count"."""
    marks = [r[0] for r in query(session, "SELECT id FROM hop WHERE op = 'aten::eye' AND kind LIKE 'call%' AND parent IS NULL ORDER BY id")]
    empty = marks[-1] - marks[-2]
    return {name: marks[i + 1] - marks[i] - empty for i, name in enumerate(names)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of the sustained runs")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker, options.seconds)
    version = harness.need()
    folder = tempfile.mkdtemp(prefix="peel-bench-")
    print("PyTorch %s, %d cores, load %.1f" % (version.split()[0], os.cpu_count(), os.getloadavg()[0]))
    run_worker("count", folder, detail="keys")  # builds the agent when there is none
    best = {way: {} for way in WAYS}
    for _ in range(options.rounds):
        for way in WAYS:
            numbers, _ = run_worker(way, folder, detail=RECORDED.get(way))
            for name, ns in numbers.items():
                best[way][name] = min(ns, best[way].get(name, 1e18))
    names = list(best["stock"])
    hops = count_hops(run_worker("count", folder, detail="keys")[1], names)

    print("\n%-22s" % "ns a call" + "".join("%16s" % n for n in names))
    print("%-22s" % "hops a call" + "".join("%16d" % hops[n] for n in names))
    for way in WAYS:
        print("%-22s" % way + "".join("%16.0f" % best[way][n] for n in names))
    print("\nover stock, ns a call (ns a hop)")
    over = {way: {n: best[way][n] - best["stock"][n] for n in names} for way in WAYS[1:]}
    for way in WAYS[1:]:
        print("%-22s" % way + "".join("%16s" % ("%.0f (%.0f)" % (over[way][n], over[way][n] / hops[n])) for n in names) + "  " + BOUNDS.get(way, ""))
    print("\ntimes as dear as standard, a call")
    for way in WAYS[5:]:
        print("%-22s" % way + "".join("%16.1f" % (over[way][n] / max(over["standard"][n], 1.0)) for n in names)
              + ("  >= 4 wanted" if "stack" in way else ""))

    print("\nsustained: linear in a loop for %.0f s" % options.seconds)
    stock, _ = run_worker("sustained", folder, options.seconds)
    print("%-22s%12.0f calls/s" % ("stock", stock["calls"] / stock["seconds"]))
    for detail in ("keys", "standard"):
        start = time.perf_counter()
        numbers, session = run_worker("sustained", folder, options.seconds, detail)
        wall = time.perf_counter() - start
        events = query(session, "SELECT count(*) FROM event")[0][0]
        size = os.path.getsize(session)
        lost = query(session, "SELECT name, count FROM loss")
        print("%-22s%12.0f calls/s  %.2f M hops, %.0f hops/s in the loop, %.0f hops/s with start and end, %.1f bytes a hop, loss %s" % (
            detail, numbers["calls"] / numbers["seconds"], events / 1e6, numbers["calls"] * hops["linear"] / numbers["seconds"], events / wall, size / events,
            lost or "none"))
    others(folder)
    shutil.rmtree(folder, ignore_errors=True)


def others(folder):
    session = os.path.join(folder, "million.peel")
    for name, *arguments in (("peel_drain_bench",), ("peel_open_bench", "1000000", session), ("peel_frame_bench", session)):
        program = os.path.join(os.path.dirname(harness.peel()), "tests", "perf", name)
        if not os.access(program, os.X_OK):
            print("\n%s is not built: ninja -C build peel_benches" % name)
            continue
        print("\n%s" % " ".join([name, *arguments[:1]] if len(arguments) > 1 else [name]))
        _, out, err = harness.run([program, *arguments])
        print((out + err).rstrip())


if __name__ == "__main__":
    sys.exit(main())
