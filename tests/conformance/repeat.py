"""`peel show --event N --as python`: for every call of the samples, and for some of the conformance programs, the program is made and run on stock PyTorch, all under one
recording, and what they did is compared with what was recorded first: operators, kinds, keys, key sets, nodes, depth by depth.

A call of torch.ops enters boxed, so the kind of the outermost hop may differ by that alone.
"""
import collections
import json
import os
import random
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

DRIVER = """
import contextlib, io, json, runpy, sys
import torch
outcomes = {}
with open(sys.argv[1]) as f:
    programs = json.load(f)
if sys.argv[3:]:  # registers what the programs call
    runpy.run_path(sys.argv[3])
for name, text in programs:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, name, "exec"), {})
        outcomes[name] = ""
    except Exception as e:
        outcomes[name] = "%s: %s" % (type(e).__name__, str(e).split("\\n")[0])
with open(sys.argv[2], "w") as f:
    json.dump(outcomes, f)
"""


class Recorded:
    def __init__(self, path):
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.db = db
        self.hops, self.children = {}, collections.defaultdict(list)
        nodes = collections.defaultdict(list)
        for event, name in db.execute("SELECT n.event, s.value FROM node n JOIN string s ON s.id = n.name WHERE n.event IS NOT NULL ORDER BY n.id"):
            nodes[event].append(name)
        frames = {i: (parent, file, line) for i, parent, file, line in db.execute("SELECT id, parent, file, line FROM frame")}

        def program(stack):
            """The frame of a program made here, below those of torch.ops."""
            while stack and not (frames[stack][1] or "").startswith("call_"):
                stack = frames[stack][0]
            return frames[stack][1:] if stack else (None, None)
        query = "SELECT h.id, h.parent, h.thread, h.op, h.kind, h.key, h.keyset, h.stack, e.flags & 1 FROM hop h JOIN event e ON e.id = h.id ORDER BY h.id"
        for id, parent, thread, op, kind, key, keyset, stack, raised in db.execute(query):
            file, line = program(stack)
            self.hops[id] = {"op": op, "kind": kind, "key": key, "keyset": keyset, "nodes": sorted(nodes[id]), "file": file, "line": line, "raised": raised, "parent": parent}
            self.children[parent].append(id)

    def tree(self, id, top=True):
        h = self.hops[id]
        kind = h["kind"].replace("_boxed", "") if top else h["kind"]
        out = [(0, h["op"], kind, h["key"], h["keyset"], tuple(h["nodes"]), h["raised"])]
        for c in self.children[id]:
            out += [(d + 1, *rest) for d, *rest in self.tree(c, False)]
        return out


def check(name, path, folder, problems, counts):
    session, again = os.path.join(folder, name + ".peel"), os.path.join(folder, name + ".again.peel")
    status, _, err = harness.record(session, [path], timeout=300)
    if status:
        return problems.append("%s: recording ended with %d: %s" % (name, status, err[-300:]))
    first = Recorded(session)
    calls = [i for i, h in first.hops.items() if h["kind"] in ("call", "call_boxed")]
    programs, seen, cannot = [], set(), collections.Counter()
    random.Random(name).shuffle(calls)
    for i in calls:
        # Calls that look alike from outside give one program.
        rows = first.db.execute("SELECT e.op, e.tls, e.arg_keyset FROM event e WHERE e.id = ?", (i,)).fetchone()
        arguments = first.db.execute("SELECT position, list_index, meta, value, (SELECT base IS NULL FROM tensor t WHERE t.id = a.tensor) FROM argument a WHERE event = ?", (i,)).fetchall()
        key = (rows, tuple(arguments), json.dumps(first.tree(i)))
        if key in seen:
            continue
        seen.add(key)
        status, out, err = harness.run([harness.peel(), "show", session, "--event", str(i), "--as", "python"])
        if status:
            cannot[err.strip().split(": ", 2)[-1]] += 1
            continue
        programs.append(["call_%d.py" % i, out])
        if name not in SAMPLES and len(programs) + sum(cannot.values()) >= MOST:
            break
    listed, outcomes, driver = (os.path.join(folder, n) for n in ("programs.json", "outcomes.json", "driver.py"))
    with open(listed, "w") as f:
        json.dump(programs, f)
    with open(driver, "w") as f:
        f.write(DRIVER)
    status, _, err = harness.record(again, [driver, listed, outcomes, *([path] if name == "custom_op" else [])], timeout=600)
    if status:
        return problems.append("%s: the programs ended with %d: %s" % (name, status, err[-300:]))
    with open(outcomes) as f:
        ended = json.load(f)
    second = Recorded(again)
    made = {}
    for i in second.children[None]:
        h = second.hops[i]
        if h["file"] and h["file"].startswith("call_"):
            made.setdefault(h["file"], []).append(i)
    texts = dict(programs)
    equal, unlike = 0, []
    for file, text in programs:
        i = int(file[5:-3])
        wanted = first.tree(i)
        line = text[:text.rindex("result = ")].count("\n") + 1
        at = [e for e in made.get(file, []) if second.hops[e]["op"] == first.hops[i]["op"] and second.hops[e]["line"] == line]
        got = second.tree(at[-1]) if at else None
        if got == wanted:
            equal += 1
        elif ended.get(file) and not first.hops[i]["raised"] and not got:
            unlike.append((i, first.hops[i]["op"], "raised " + ended[file]))
        else:
            n = next((k for k, (a, b) in enumerate(zip(wanted, got or [])) if a != b), min(len(wanted), len(got or [])))
            unlike.append((i, first.hops[i]["op"], "row %d: recorded %r, repeated %r%s" % (n, wanted[n:n + 1], (got or [])[n:n + 1], ", raised " + ended[file] if ended.get(file) else "")))
    print("%-16s %4d calls, %4d different ones looked at: %4d made, %4d equal, %3d unlike, %3d cannot" % (name, len(calls), len(seen), len(programs), equal, len(unlike), sum(cannot.values())))
    for why, n in cannot.most_common(4):
        print("    cannot x %d: %s" % (n, why))
    for i, op, what in unlike[:12 if os.environ.get("PEEL_VERBOSE") else 3]:
        print("    hop %d %s: %s" % (i, op, what))
        if os.environ.get("PEEL_VERBOSE"):
            print("\n".join("        " + line for line in texts["call_%d.py" % i].splitlines() if not line.startswith("#")))
    # A handle of the profiler's, say, is no value that a program can make.
    counts[name] = (len(seen) - sum(n for why, n in cannot.items() if why.endswith("it is recorded as Object")), equal)


# Every call of the samples must repeat; elsewhere at least this share of the different calls.
SAMPLES = ["train_step", "grad_modes", "custom_op"]
MOST = 40  # of another program are looked at
OTHERS = {"cnn": 0.85, "lstm": 0.85, "transformer": 0.85, "autocast": 0.9, "views_inplace": 0.9, "small_things": 0.9}


def main():
    harness.need()
    problems, counts = [], {}
    names = sys.argv[1:] or SAMPLES + list(OTHERS)
    with tempfile.TemporaryDirectory(prefix="peel-repeat-") as folder:
        for name in names:
            path = os.path.join(harness.PROGRAMS, name + ".py")
            check(name, path if os.path.exists(path) else os.path.join(HERE, "programs", name + ".py"), folder, problems, counts)
    for name, (calls, equal) in counts.items():
        least = OTHERS.get(name, 1.0)
        if equal < least * calls:
            problems.append("%s: %d of %d calls repeat, at least %d %% should" % (name, equal, calls, round(least * 100)))
    for p in problems[:40]:
        print(p)
    print("%d problems" % len(problems) if problems else "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
