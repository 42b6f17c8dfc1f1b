"""Records programs on a GPU and holds what was recorded against PyTorch's own means.

    run.py [--keep FOLDER] [PROGRAM...]       needs a GPU; without one it ends as skipped

For every program of tests/gpu/programs, and train_step.py on the GPU:
  * output and exit status are those of the program alone;
  * every kernel, copy and set is joined to the call that launched it, and through it to the hop;
  * names and counts of kernels equal those of PyTorch's profiler in another run;
  * at each mark (programs/marks.py) the live blocks, pending frees and segments that follow from the history equal torch.cuda.memory._snapshot(), and what
    `peel memory` says is allocated and reserved equals memory_allocated() and the snapshot's segments. Where the allocator is CUDA's own (cudaMallocAsync),
    what its pools gave out, as CUPTI reports it, equals memory_allocated().
"""
import argparse
import collections
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE = range(5)


def state_before(db, time_ns):
    """(live blocks: address -> bytes asked for, blocks whose free is pending, segments: address -> bytes) by the history alone."""
    live, pending, segments = {}, set(), {}
    for action, address, size in db.execute("SELECT m.action, m.address, m.size FROM memory_event m JOIN string d ON d.id = m.device WHERE d.value LIKE 'cuda%' AND m.time_ns < ? ORDER BY m.id", (time_ns,)):
        if action == ALLOC:
            live[address] = size
        elif action == FREE_REQUESTED:
            pending.add(address)
        elif action == FREE_COMPLETED:
            live.pop(address, None)
            pending.discard(address)
        elif action == SEGMENT_ALLOC:
            segments[address] = size
        elif action == SEGMENT_FREE:
            segments.pop(address, None)
    return live, pending, segments


def check_marks(session, db, marks):
    problems = []
    hops = db.execute("SELECT id, begin_ns FROM hop WHERE op = 'aten::eye' AND parent IS NULL ORDER BY id").fetchall()
    times = [t for _, t in hops]
    if len(times) != len(marks):
        return ["%d marks, but %d hops that mark" % (len(marks), len(times))]
    for number, ((hop, time_ns), mark) in enumerate(zip(hops, marks)):
        pools = mark["segments"] is None
        status, out, err = harness.run([harness.peel(), "memory", session, "--device", "cuda:0 pools" if pools else "cuda:0", "--at", str(hop), "--json"])
        shown = json.loads(out.splitlines()[0]) if status == 0 else {}
        want = {"allocated": mark["allocated"]}
        if not pools:
            want["reserved"] = sum(s["total_size"] for s in mark["segments"])
        if {k: shown.get(k) for k in want} != want:
            problems.append("mark %d: peel memory says %r, PyTorch %r (%s)" % (number, shown, want, err.strip()))
        if pools:
            continue
        live, pending, segments = state_before(db, time_ns)
        want_live, want_pending, want_segments, allocated = {}, set(), {}, 0
        for s in mark["segments"]:
            want_segments[s["address"]] = s["total_size"]
            at = s["address"]
            for size, requested, state in s["blocks"]:  # one after another from the segment's address on
                if state != "inactive":
                    want_live[at] = requested
                if state.startswith("active_") and state != "active_allocated":
                    want_pending.add(at)
                elif state == "active_allocated":
                    allocated += size
                at += size
        for what, a, b in (("live blocks", want_live, live), ("segments", want_segments, segments), ("pending frees", want_pending, pending)):
            if a != b:
                problems.append("mark %d: %s differ: snapshot %r, history %r" % (number, what, sorted(a.items() if isinstance(a, dict) else a)[:6], sorted(b.items() if isinstance(b, dict) else b)[:6]))
        if allocated != mark["allocated"]:
            problems.append("mark %d: the snapshot's blocks hold %d bytes, memory_allocated() says %d" % (number, allocated, mark["allocated"]))
    return problems


def check(program, arguments, folder):
    name = os.path.splitext(os.path.basename(program))[0]
    session, marks = os.path.join(folder, name + ".peel"), os.path.join(folder, name + ".marks")
    alone = harness.run([harness.python(), program, *arguments], timeout=300)
    recorded = harness.record(session, [program, *arguments], env=harness.environment(PEEL_MARKS=marks), timeout=600)
    problems = []
    if alone[:2] != recorded[:2]:
        problems.append("alone %r, recorded %r: %s" % (alone[:2], recorded[:2], recorded[2][-500:]))
    said = [line for line in recorded[2].splitlines() if line.startswith("peel: ") and session not in line and "agent" not in line and "nothing lost" not in line]
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    tables = ("KERNEL", "MEMCPY", "MEMSET")
    rows = {t: db.execute("SELECT count(*), sum(event IS NULL) FROM CUPTI_ACTIVITY_KIND_%s" % t).fetchone() for t in tables}
    launches = db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0] + db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_DRIVER").fetchone()[0]
    unlaunched = sum(db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_%s a WHERE NOT EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = a.correlationId) "
                                "AND NOT EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_DRIVER r WHERE r.correlationId = a.correlationId)" % t).fetchone()[0] for t in tables)
    unlinked = collections.Counter(n for n, in db.execute("SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN string s ON s.id = k.shortName WHERE k.event IS NULL"))
    if unlaunched:
        problems.append("%d activities have no call that launched them" % unlaunched)
    ours = collections.Counter(n for n, in db.execute("SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN string s ON s.id = k.demangledName"))
    ours.update(gpu_memcpy=rows["MEMCPY"][0], gpu_memset=rows["MEMSET"][0])
    ours = +ours
    if name != "own_profiler":
        out = os.path.join(folder, name + ".kernels")
        more = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"} if name == "async_allocator" else {}  # read when torch is imported, before the program runs
        status, _, err = harness.run([harness.python(), os.path.join(HERE, "profiled.py"), program, out, *arguments], timeout=300, env=harness.environment(**more))
        if status:
            problems.append("the profiled run ended with %d: %s" % (status, err[-500:]))
            theirs = None
        else:
            with open(out) as f:
                theirs = collections.Counter(json.load(f))
        if theirs is not None and theirs != ours:
            problems.append("kernels differ from the profiler's: only there %r, only here %r" % (dict(theirs - ours), dict(ours - theirs)))
    if os.path.exists(marks):
        with open(marks) as f:
            problems += check_marks(session, db, json.load(f))
    loss = dict(db.execute("SELECT name, count FROM loss"))
    memory = db.execute("SELECT count(*), coalesce(sum(event IS NULL), 0), coalesce(sum(storage IS NOT NULL), 0) FROM memory_event m JOIN string d ON d.id = m.device WHERE d.value LIKE 'cuda%'").fetchone()
    cuda = db.execute("SELECT count(*), coalesce(sum(event IS NULL), 0), coalesce(sum(localMemoryPoolAddress > 0), 0) FROM CUDA_GPU_MEMORY_USAGE_EVENTS").fetchone()
    pools = db.execute("SELECT o.label, count(*) FROM CUDA_GPU_MEMORY_POOL_EVENTS p JOIN ENUM_CUDA_MEMPOOL_OPER o ON o.id = p.operationType GROUP BY 1").fetchall()
    alone_at = db.execute("SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS u WHERE u.localMemoryPoolAddress > 0 AND NOT EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = u.correlationId)").fetchone()[0]
    if alone_at:
        problems.append("%d allocations of pools have no call that asked for them" % alone_at)
    by_thread = db.execute("SELECT count(DISTINCT e.thread) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN event e ON e.id = k.event").fetchone()[0]
    db.close()
    line = "%s (of these without a hop %s); %d API calls; hops of %d threads; memory events %d (outside of hops %d, with storage %d); memory from CUDA %d (outside of hops %d, of pools %d), pools %r; loss %r; said %r" % (
        ", ".join("%d %s" % (rows[t][0], t.lower()) for t in tables), dict(unlinked) or {t: rows[t][1] for t in tables if rows[t][1]} or 0, launches, by_thread, *memory, *cuda, dict(pools), loss, said)
    return name, problems, line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="folder to leave the sessions in")
    parser.add_argument("only", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    harness.need()
    if subprocess.run([harness.python(), "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"], capture_output=True).returncode:
        print("skipped: there is no GPU that PyTorch could use")
        return harness.SKIPPED
    folder = options.keep or tempfile.mkdtemp(prefix="peel-gpu-")
    os.makedirs(folder, exist_ok=True)
    here = os.path.join(HERE, "programs")
    programs = [(os.path.join(here, f), []) for f in sorted(os.listdir(here)) if f.endswith(".py") and f != "marks.py"]
    programs.append((os.path.join(harness.PROGRAMS, "train_step.py"), ["--device", "cuda"]))
    failed = []
    for program, arguments in programs:
        if options.only and os.path.splitext(os.path.basename(program))[0] not in options.only:
            continue
        name, problems, line = check(program, arguments, folder)
        print("%s %s: %s" % ("FAILED" if problems else "ok", name, line), flush=True)
        for p in problems:
            print("  " + p, flush=True)
        if problems:
            failed.append(name)
    print("%d failed%s" % (len(failed), ": " + " ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
