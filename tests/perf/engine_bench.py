"""What recording costs on the embedded engine, beside the engine alone and stock PyTorch, in one run.

    engine_bench.py [--rounds N] [--seconds S]      (PEEL, PEEL_TEST_PYTHON as for the tests)

Workloads, batches and rounds are those of recorder_bench.py. Without peel there is no observer: that is the engine with recording off. Prints; never
decides by the clock whether something passed. What a hop costs without Python: dispatch_bench.py.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import harness  # noqa: E402
import recorder_bench as bench  # noqa: E402

WAYS = ("stock PyTorch", "engine", "keys", "standard", "breakpoint")


def run_worker(way, folder, work=None, seconds=0.0):
    """(what the worker printed, path of the session)"""
    work = work or ("stock" if way in ("stock PyTorch", "engine") else way)
    command = [bench.__file__, "--worker", work, "--seconds", str(seconds)]
    session = os.path.join(folder, "engine.peel")
    if way == "stock PyTorch":
        status, out, err = harness.run([harness.python(), *command])
    elif way == "engine":
        package = os.path.join(os.path.dirname(harness.peel()), "engine")
        with open(os.path.join(package, "about.txt")) as about:
            python = about.read().splitlines()[2]
        status, out, err = harness.run([python, *command], env=harness.environment(PYTHONPATH=package))
    else:
        options = ["--break", bench.BREAK] if way == "breakpoint" else []
        status, out, err = harness.run([harness.peel(), "record", "--engine", "embedded", "-o", session, "--detail", bench.RECORDED.get(way, way), *options, *command])
    if status != 0:
        raise SystemExit("%s ended with %d: %s" % (way, status, err))
    return json.loads(out) if out.strip() else None, session


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of the sustained runs")
    options = parser.parse_args()
    version = harness.need()
    folder = tempfile.mkdtemp(prefix="peel-engine-bench-")
    print("PyTorch %s, %d cores, load %.1f" % (version.split()[0], os.cpu_count(), os.getloadavg()[0]))
    best = {way: {} for way in WAYS}
    for _ in range(options.rounds):
        for way in WAYS:
            for name, ns in run_worker(way, folder)[0].items():
                best[way][name] = min(ns, best[way].get(name, 1e18))
    names = list(best["engine"])
    hops = bench.count_hops(run_worker("keys", folder, "count")[1], names)

    print("\n%-22s" % "ns a call" + "".join("%16s" % n for n in names))
    print("%-22s" % "hops a call" + "".join("%16d" % hops[n] for n in names))
    for way in WAYS:
        print("%-22s" % way + "".join("%16.0f" % best[way][n] for n in names))
    print("%-22s" % "engine / stock" + "".join("%16.2f" % (best["engine"][n] / best["stock PyTorch"][n]) for n in names))
    print("\nover the engine alone, ns a call (ns a hop)")
    for way in WAYS[2:]:
        over = {n: best[way][n] - best["engine"][n] for n in names}
        print("%-22s" % way + "".join("%16s" % ("%.0f (%.0f)" % (over[n], over[n] / hops[n])) for n in names))

    print("\nsustained: linear in a loop for %.0f s" % options.seconds)
    for way in ("engine", "keys", "standard"):
        start = time.perf_counter()
        numbers, session = run_worker(way, folder, "sustained", options.seconds)
        wall = time.perf_counter() - start
        line = "%-22s%12.0f calls/s" % (way, numbers["calls"] / numbers["seconds"])
        if way != "engine":
            events = bench.query(session, "SELECT count(*) FROM event")[0][0]
            line += "  %.2f M hops, %.0f hops/s in the loop, %.0f hops/s with start and end, %.1f bytes a hop, loss %s" % (
                events / 1e6, numbers["calls"] * hops["linear"] / numbers["seconds"], events / wall, os.path.getsize(session) / events,
                bench.query(session, "SELECT name, count FROM loss") or "none")
        print(line)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
