"""Records each program and holds the session against stock PyTorch: its hops against the independent oracle's, its results against those of
the same program run alone.

    run.py [--long] [--keep FOLDER] [--exclusions] [PROGRAM...]

For every program:
  * standard output, standard error and exit status are those of the program without Peel, bit for bit;
  * every row agrees with the oracle's: operator, depth, call or redispatch, key, key set, thread-local sets, modes, union of the arguments,
    whether it raised; every node: name, sequence number, the hop that made it, edges (exclusions.py says what is left out);
  * `peel show --json` says the same as plain SQL; `peel info` says that all key sets are explained;
  * every slot of every dispatch table is what PyTorch dumps, and every verdict of `peel why` on every hop what PyTorch's own tables, masks and sets give (verdicts.py).

The oracle's answers are kept in PEEL_TEST_CACHE (by the content of program and oracle and by PyTorch's build), as they don't depend on Peel.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import harness  # noqa: E402
from compare import compare  # noqa: E402
from exclusions import EXCLUSIONS  # noqa: E402
from rows import read_oracle, read_session  # noqa: E402
import verdicts  # noqa: E402


@dataclass
class Program:
    path: str
    long: bool = False
    needs: str = ""  # a program that has to be there

    @property
    def name(self):
        return os.path.splitext(os.path.basename(self.path))[0]


def programs():
    own = [Program(os.path.join(harness.PROGRAMS, f)) for f in sorted(os.listdir(harness.PROGRAMS)) if f.endswith(".py")]
    folder = os.path.join(HERE, "programs")
    there = [Program(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".py")]
    for p in there:
        p.long = p.name == "compile_inductor"
        if p.name == "compile_inductor":
            p.needs = "g++"
    # The longest first, so that the last one to end isn't alone.
    return sorted(own + there, key=lambda p: p.name not in ("transformer", "compile_inductor", "compile_eager"))


def fresh(folder):
    """An environment in which nothing that an earlier run compiled is found: all runs of a program start alike."""
    os.makedirs(folder, exist_ok=True)
    return harness.environment(TORCHINDUCTOR_CACHE_DIR=tempfile.mkdtemp(dir=folder), TORCHINDUCTOR_COMPILE_THREADS="1")


def oracle_answer(program, version, folder):
    """Path of the oracle's rows, from the cache when they are there, and what the program printed under it."""
    h = hashlib.sha256(version.encode())
    for path in (program.path, os.path.join(HERE, "oracle.cpp"), os.path.join(HERE, "oracle.py")):
        with open(path, "rb") as f:
            h.update(f.read())
    cache = os.environ.get("PEEL_TEST_CACHE") or os.path.join(tempfile.gettempdir(), "peel-conformance")
    os.makedirs(cache, exist_ok=True)
    path = os.path.join(cache, "%s-%s.json" % (program.name, h.hexdigest()[:16]))
    if not os.path.exists(path):
        made = "%s.%d" % (path, os.getpid())
        env = dict(fresh(folder), PEEL_ORACLE_CACHE=cache)
        status, out, err = harness.run([harness.python(), os.path.join(HERE, "oracle.py"), "--hops", program.path, made], env=env, timeout=600)
        if not os.path.exists(made):
            raise RuntimeError("the oracle made nothing (status %d): %s" % (status, err[-2000:]))
        os.replace(made, path)
    return path


def without_peel(text):
    """Standard error without what Peel itself says."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("peel: "))


def same_results(alone, recorded):
    problems = []
    for what, a, b in zip(("exit status", "standard output", "standard error"), alone, recorded):
        if what == "standard error":
            a, b = without_peel(a), without_peel(b)
        if a == b:
            continue
        if isinstance(a, str):
            a, b = a.splitlines(), b.splitlines()
            i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            a, b = ("line %d: %r" % (i + 1, side[i][:400] if i < len(side) else None) for side in (a, b))
        problems.append("%s differs\n  alone    %s\n  recorded %s" % (what, a, b))
    return problems


def check_show(session, by_sql):
    """The rows of `show --json` against the same read by SQL."""
    status, out, err = harness.run([harness.peel(), "show", "--json", session])
    if status != 0:
        return ["show --json ended with %d: %s" % (status, err.strip())]
    shown = {}
    for line in out.splitlines():
        r = json.loads(line)
        shown[r["id"]] = r
    problems = []
    for row in by_sql:
        r = shown.get(row.id)
        if r is None:
            problems.append("show --json has no row %d" % row.id)
        else:
            kind = row.kind + ("_boxed" if row.boxed else "")
            node = row.nodes[0].name if row.nodes and row.nodes[0].made else None
            for what, a, b in (("op", row.op, r["op"]), ("kind", kind, r["kind"]), ("key", row.key, r["key"]), ("raised", row.raised is not None, r["error"] is not None),
                               ("node", node, r["node"] if node else None)):
                if a != b:
                    problems.append("show --json, row %d: %s is %r, by SQL %r" % (row.id, what, b, a))
        if len(problems) > 3:
            break
    return problems


def key_sets(session):
    """(raw, text) of each distinct set."""
    import sqlite3
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    sets = db.execute("SELECT DISTINCT raw, text FROM keyset").fetchall()
    db.close()
    return sets


def key_names(sets):
    """The text of each set, in ascending priority, is what PyTorch prints for the raw set."""
    code = "import json,sys,torch\nfor r,t in json.load(sys.stdin):\n  want=repr(torch._C.DispatchKeySet.from_raw_repr(r & (1<<64)-1))\n  if want!=t: print(hex(r & (1<<64)-1), 'session', t, 'PyTorch', want)"
    status, out, err = harness.run([harness.python(), "-c", code], input=json.dumps(sorted(sets)))
    return ["names of key sets: " + line for line in (out or err).splitlines()[:3]]


def check_info(session):
    status, out, err = harness.run([harness.peel(), "info", session])
    m = re.search(r"key sets: ([\d,]+) of ([\d,]+) explained", out)
    if status != 0 or not m:
        return ["info (status %d) doesn't say how many key sets are explained: %s%s" % (status, out, err)]
    return [] if m[1] == m[2] and m[1] != "0" else ["info: " + m[0]]


def check(program, version, folder, sets):
    """(problems, one line of numbers). `sets` gets the key sets of its session."""
    if program.needs and not shutil.which(program.needs):
        return [], "skipped: there is no %s" % program.needs
    session = os.path.join(folder, program.name + ".peel")
    start = time.monotonic()
    answer = oracle_answer(program, version, folder)
    alone = harness.run([harness.python(), program.path], env=fresh(folder), timeout=300)
    before = time.monotonic()
    recorded = harness.record(session, [program.path], env=fresh(folder), timeout=600)
    took = time.monotonic() - before
    problems = same_results(alone, recorded)
    if not os.path.exists(session):
        return problems + ["no session was written: " + recorded[2][-2000:]], ""
    oracle, (ours, meta) = read_oracle(answer), read_session(session)
    result = compare(oracle, ours)
    problems += result.problems + check_show(session, ours) + check_info(session)
    sets.update(key_sets(session))
    more, told = verdicts.check(session, program.path, answer[:-len(".json")])
    problems += more
    applied = ", ".join("%s x%d" % item for item in sorted(result.applied.items()))
    return problems, "%d of %d rows and %d nodes compared%s; %s; other rows %s; record %.1f s, all %.1f s" % (
        result.rows, len(oracle), result.nodes, "; left out: " + applied if applied else "", told, meta["other rows"] or "none", took, time.monotonic() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="also the programs that take long")
    parser.add_argument("--keep", help="folder to leave the sessions in")
    parser.add_argument("--exclusions", action="store_true", help="print what is left out of the comparison, and why")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("only", nargs="*", metavar="PROGRAM", help="names of programs, or paths of others")
    options = parser.parse_args()
    if options.exclusions:
        for name, what, reason, _ in EXCLUSIONS:
            print("%s: not compared: %s. %s" % (name, what, reason))
        return 0
    version = harness.need()
    chosen = [p for p in programs() if options.long or not p.long]
    if options.only:
        chosen = [p for p in programs() if p.name in options.only] + [Program(os.path.abspath(p)) for p in options.only if p.endswith(".py")]
    folder = options.keep or tempfile.mkdtemp(prefix="peel-conformance-")
    os.makedirs(folder, exist_ok=True)
    # The agent is built on first use: once, before anything runs side by side.
    status, out, err = harness.record(os.path.join(folder, "first.peel"), [os.path.join(harness.PROGRAMS, "grad_modes.py")], timeout=1200)
    if status != 0:
        print("recording grad_modes.py ended with %d:\n%s%s" % (status, out, err))
        return 1
    failed, sets = [], set()
    with ThreadPoolExecutor(options.jobs) as pool:
        running = [(p, pool.submit(check, p, version, folder, sets)) for p in chosen]
        for program, future in running:
            try:
                problems, line = future.result()
            except (subprocess.TimeoutExpired, RuntimeError, OSError, ValueError) as e:
                problems, line = [str(e)], ""
            print("%s %s: %s" % ("FAILED" if problems else "ok", program.name, line), flush=True)
            for problem in problems:
                print("  " + problem.replace("\n", "\n  "), flush=True)
            if problems:
                failed.append(program.name)
    if problems := key_names(sets):
        print("\n".join(problems))
        failed.append("(names of key sets)")
    print("%d programs, %d key sets named as PyTorch does, %d failed%s" % (len(chosen), len(sets), len(failed), ": " + " ".join(failed) if failed else ""))
    if not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
