"""`peel whatif` against stock: for each change of whatif/body.py, what is predicted from a recording of the program as it is, held against a
recording in which the change was really made. Every call whose first kernel is predicted (changed or not) must have landed there: key and kernel.

    whatif.py [NAME...]    only these changes
"""
import json
import os
import re
import sqlite3
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]
import harness  # noqa: E402

BODY = os.path.join(HERE, "whatif", "body.py")
CALLS = ("call", "call_boxed", "missing_kernel")


def place(registered_at):
    return re.sub(r"^registered at ", "", registered_at or "").rsplit("/", 1)[-1]


class Hop:
    def __init__(self, row):
        self.id, self.parent, self.op, self.kind, self.key, self.rule, self.at, self.mark = row
        self.children = []


class Recording:
    """The hops of each stretch between two marks, as trees."""

    def __init__(self, path):
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        rows = db.execute("""SELECT h.id, h.parent, h.op, h.kind, h.key, k.rule, k.registered_at, (SELECT s.value FROM argument a JOIN string s ON s.id = a.value WHERE a.event = h.id AND h.op = 'peel_whatif::mark')
                             FROM hop h JOIN event e USING (id) LEFT JOIN kernel k ON k.id = e.kernel ORDER BY h.id""").fetchall()
        db.close()
        self.stretches, self.order, by_id, now = {}, [], {}, None
        for row in rows:
            hop = by_id[row[0]] = Hop(row)
            if hop.mark is not None and hop.kind.startswith("call") and hop.parent is None:
                now = int(hop.mark)
                self.stretches.setdefault(now, [])
                continue
            if hop.parent in by_id:
                by_id[hop.parent].children.append(hop)
            elif now is not None:
                self.stretches[now].append(hop)
        self.by_id = by_id

    def hops(self, stretch):
        def walk(hops):
            for h in hops:
                yield h
                yield from walk(h.children)
        return list(walk(self.stretches[stretch]))


class Comparison:
    def __init__(self, predicted):
        self.predicted, self.problems, self.compared, self.changed, self.unknown = predicted, [], 0, 0, 0

    def levels(self, was, now, where):
        was, now = ([h for h in side if h.kind != "backward_node"] for side in (was, now))
        if [h.op for h in was] != [h.op for h in now]:
            self.problems.append("%s: the calls are %s, with the change %s" % (where, [h.op for h in was], [h.op for h in now]))
            return
        for a, b in zip(was, now):
            self.pair(a, b)

    def pair(self, a, b):
        p = self.predicted.get(a.id)
        if a.kind not in CALLS and not p:  # a redispatch that goes as it did
            if (a.key, a.op) == (b.key, b.op):
                self.levels(a.children, b.children, "in hop %d, %s" % (a.id, a.op))
            else:
                self.problems.append("hop %d, %s: a redispatch to %s goes to %s, which was not predicted" % (a.id, a.op, a.key, b.key))
            return
        if p and p["outcome"] == "unknown":
            self.unknown += 1
            return
        key = p["key_then"] if p else a.key
        found = "no kernel" if b.kind == "missing_kernel" else "%s, %s" % (b.rule, place(b.at))
        wanted = p["kernel_then"] if p else "no kernel" if a.kind == "missing_kernel" else "%s, %s" % (a.rule, place(a.at))
        # A new kernel is one of the program's own.
        same = "body.py" in found if wanted.startswith("the new kernel") else found == wanted
        if (key or "Undefined") != b.key or not same:
            self.problems.append("hop %d, %s at %s: predicted %s, %s; it was %s, %s" % (a.id, a.op, a.key, key, wanted, b.key, found))
            return
        if a.kind in CALLS:
            self.compared += 1
            self.changed += bool(p)
        composite = p and a.kind in CALLS and wanted.startswith("math kernel") and found == "%s, %s" % (a.rule, place(a.at))
        if not p or composite:
            self.levels(a.children, b.children, "in hop %d, %s" % (a.id, a.op))


def ask(session, options):
    status, out, err = harness.run([harness.peel(), "whatif", session, *options, "--json"])
    if status not in (0, 1):
        raise AssertionError("peel whatif %s ended with %d: %s" % (" ".join(options), status, err))
    rows = [json.loads(line) for line in out.splitlines()]
    if bool([r for r in rows if r["outcome"] in ("changes", "raises")]) != (status == 1):
        raise AssertionError("exit status %d with these rows: %s" % (status, rows[:3]))
    return {r["id"]: r for r in rows}


def check(name, session, base, options, where, other, number):
    """One change: a line of numbers, and what differs."""
    halves = {"whole": (1, 1001), "first": (1, 1), "second": (1001, 1001)}[where]
    hops = [h.id for n in (1, 1001) if halves[0] <= n <= halves[1] for h in base.hops(n)]
    predicted = ask(session, [*options, "--from", str(min(hops)), "--to", str(max(hops))])
    c = Comparison(predicted)
    for n in (0, 1000):
        c.levels(base.stretches[1 + n], other.stretches[number + n], "half %d" % (n // 1000 + 1))
    if c.compared < 40:
        c.problems.append("only %d calls were compared" % c.compared)
    print("%s %s: %d calls compared, %d of them go elsewhere first, %d unknown" % ("FAILED" if c.problems else "ok", name, c.compared, c.changed, c.unknown), flush=True)
    for problem in c.problems[:6]:
        print("  " + problem)
    return not c.problems


def main():
    harness.need()
    names = sys.argv[1:]
    # The table of changes without importing PyTorch here: asked of the Python that has it.
    code = "import sys, json; sys.path.insert(0, %r); import body; print(json.dumps([{n: [w, o] for n, (w, o, _) in body.CHANGES.items()}, {n: o for n, (o, _) in body.LEAVES.items()}]))"
    status, out, err = harness.run([harness.python(), "-c", code % os.path.dirname(BODY)])
    if status:
        print("the table of changes cannot be read: %s%s" % err[-2000:])
        return 1
    changes, leaves = json.loads(out.splitlines()[-1])
    start = time.monotonic()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="peel-whatif-") as folder:
        def record(name, arguments):
            path = os.path.join(folder, name + ".peel")
            status, out, err = harness.record(path, [BODY, *arguments], timeout=900)
            if status:
                raise AssertionError("recording %s ended with %d: %s" % (name, status, err[-2000:]))
            return path
        as_it_is = record("as_it_is", ["as_it_is"])
        base, changed = Recording(as_it_is), Recording(record("changed", []))
        count = 0
        for n, (name, (where, options)) in enumerate(changes.items()):
            if not names or name in names:
                count += 1
                failed += not check(name, as_it_is, base, options, where, changed, n + 1)
        for name, options in leaves.items():
            if not names or name in names:
                count += 1
                under = record(name, ["under", name])
                failed += not check(name, under, Recording(under), options, "whole", base, 1)
    print("%d changes, %d failed, %.0f s" % (count, failed, time.monotonic() - start))
    return 1 if failed or (not names and count < 30) else 0


if __name__ == "__main__":
    sys.exit(main())
