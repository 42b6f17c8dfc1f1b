"""Rows of both engines for comparison: a recording of stock, read by plain SQL, and what peel_engine_replay writes."""
import difflib
import os
import re
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, replace

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

NO_SEQUENCE = (1 << 64) - 1


def replay_path():
    return os.environ.get("PEEL_ENGINE_REPLAY") or os.path.join(harness.ROOT, "build", "tests", "conformance", "peel_engine_replay")


@dataclass(frozen=True)
class Row:
    depth: int
    op: str
    kind: str
    key: str = ""
    keyset: int = 0
    arguments: object = None
    tls: tuple = ()
    raised: bool = False
    nodes: tuple = ()      # (name, sequence number, names of the next nodes)
    thread: str = ""       # not compared

    def text(self):
        nodes = " ".join("%s#%d>%s" % (name, seq, ",".join(edges)) for name, seq, edges in self.nodes)
        return "%s%s %s %s 0x%x args=%s tls=%s%s %s" % ("  " * self.depth, self.op, self.kind, self.key, self.keyset,
                                                       "-" if self.arguments is None else hex(self.arguments), self.tls, " raised" if self.raised else "", nodes)


def unsigned(v):
    return (v or 0) & NO_SEQUENCE


def stock(path, marks=True):
    """`marks`: those for profilers too, which optimizers set in Python; programs in C++ have none."""
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.row_factory = sqlite3.Row
    names, edges, nodes = {}, {}, {}
    found = db.execute("SELECT n.id, n.event, s.value AS name, n.sequence_nr FROM node n JOIN string s ON s.id = n.name ORDER BY n.id").fetchall()
    for n in found:
        names[n["id"]] = n["name"]
    for node, following in db.execute("SELECT node, next_node FROM edge ORDER BY node, slot"):
        edges.setdefault(node, []).append(names.get(following, "none") if following else "none")
    for n in found:
        if unsigned(n["sequence_nr"]) != NO_SEQUENCE and n["event"] is not None:
            nodes.setdefault(n["event"], []).append((n["name"], n["sequence_nr"], tuple(edges.get(n["id"], []))))
    threads = {t: name if name == "main" else "thread %d" % t for t, name in db.execute("SELECT id, name FROM thread")}
    query = """SELECT h.id, h.parent, h.thread, h.op, h.kind, h.key, s.raw AS keyset, a.raw AS arguments, t.included, t.excluded, t.grad_mode, t.inference_mode, e.flags
               FROM hop h JOIN event e USING (id) LEFT JOIN keyset s ON s.id = e.keyset LEFT JOIN keyset a ON a.id = e.arg_keyset
               LEFT JOIN tls t ON t.id = e.tls ORDER BY h.id"""
    rows, depth = [], {}
    node_names = dict(db.execute("SELECT r.event, s.value FROM node_run r JOIN node n ON n.id = r.node JOIN string s ON s.id = n.name").fetchall())
    for e in db.execute(query):
        depth[e["id"]] = depth[e["parent"]] + 1 if e["parent"] in depth else 0
        if not marks and (e["op"] or "").startswith("profiler::"):
            continue
        if e["kind"] == "backward_node":
            rows.append(Row(depth[e["id"]], node_names.get(e["id"], "?"), "backward_node", thread=threads.get(e["thread"])))
            continue
        call = e["kind"].startswith("call")
        rows.append(Row(depth[e["id"]], e["op"], e["kind"].replace("_boxed", ""), e["key"], unsigned(e["keyset"]),
                        unsigned(e["arguments"]) if call else None,
                        (unsigned(e["included"]), unsigned(e["excluded"]), e["grad_mode"], e["inference_mode"]), bool((e["flags"] or 0) & 1),
                        tuple(nodes.get(e["id"], ())), threads.get(e["thread"])))
    db.close()
    return rows


def parse(line):
    """One line of hop_log.h."""
    f = line.split("\t")
    if f[2] == "backward_node":
        return Row(int(f[0]), f[1], f[2])
    nodes = []
    for text in filter(None, f[11].split(";")):
        name, seq, following = re.fullmatch(r"(\w+)#(\d+)>(.*)", text).groups()
        nodes.append((name, int(seq), tuple(filter(None, following.split(",")))))
    return Row(int(f[0]), f[1], f[2], f[3], int(f[4]), None if f[5] == "-" else int(f[5]), tuple(map(int, f[6:10])), f[10] == "raised", tuple(nodes))


def run(program):
    """(rows, {what: value}) of a program that the engine's replay knows."""
    status, out, err = harness.run([replay_path(), program])
    if status != 0:
        raise AssertionError("%s %s ended with %d: %s" % (replay_path(), program, status, err))
    rows, values = [], {}
    for line in out.splitlines():
        kind, rest = line.split("\t", 1)
        if kind == "hop":
            rows.append(parse(rest))
        else:
            what, value = rest.split("\t")
            values[what] = float(value)
    return rows, values


def comparable(rows, embedded):
    """What stock's recorder can't see is taken from ours: it finds nodes by the results of calls, so not those of calls that raise, nor those without a formula, those inside a
    CopySlices, or, at most times, a view's new node that is made when the view is read. A node that a CopySlices runs has the CopySlices' name in its recordings."""
    out, above = [], []
    for r in rows:
        if r.kind == "missing_kernel":  # stock's recorder doesn't always know its sets
            r = replace(r, keyset=0, arguments=None)
        del above[r.depth:]
        above.append(r)
        nodes = sorted((n for n in r.nodes if n[0] != "NotImplemented"), key=lambda n: n[1]) if r.nodes else []
        slices = any(n[0] == "CopySlices" for n in nodes)
        if embedded and r.raised:
            nodes = []
        if slices:
            made = max(n[1] for n in nodes if n[0] == "CopySlices")
            nodes = [n for n in nodes if n[0] == "CopySlices" or n[0] == "AsStridedBackward0" and n[1] > made]
        elif not slices and r.op != "aten::as_strided":
            nodes = [n for n in nodes if n[0] != "AsStridedBackward0"]
        inner = r.kind == "backward_node" and r.depth and above[r.depth - 1].kind == "backward_node"
        nodes = tuple(nodes)
        out.append(replace(r, op="inside CopySlices" if inner else r.op, nodes=nodes) if inner or nodes != r.nodes else r)
    return out


def relative(rows):
    """Sequence numbers counted from the first node."""
    first = min((n[1] for r in rows for n in r.nodes), default=0)
    return [replace(r, nodes=tuple((name, seq - first, edges) for name, seq, edges in r.nodes)) if r.nodes else r for r in rows]


def differences(ours, theirs, limit=30, renumber=False):
    sides = [comparable(theirs, False), comparable(ours, True)]
    a, b = ([r.text() for r in (relative(side) if renumber else side)] for side in sides)
    if a == b:
        return 0, []
    # Where they part, and what follows there: aligning long recordings as a whole takes minutes.
    part = max(next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b))) - 1, 0)
    a, b = a[part:part + 3000], b[part:part + 3000]
    lines = [x for x in difflib.unified_diff(a, b, "stock, from row %d" % part, "embedded", n=1, lineterm="")]
    return sum(x[0] in "+-" and not x.startswith(("+++", "---")) for x in lines), lines[:limit]


def segments(rows, mark):
    """What lies between each two outermost calls of the operator `mark` on the main thread; other threads' rows stay with it."""
    out, current = [], None
    for r in rows:
        if r.depth == 0 and r.thread == "main" and r.op == mark:
            if current is not None:
                out.append(current)
            current = [] if current is None else None
        elif current is not None:
            current.append(r)
    return out
