"""Both sides of the comparison as the same rows: the oracle's JSON folded, and a session read by plain SQL."""
import json
import sqlite3
from dataclasses import dataclass, field

NO_SEQUENCE = (1 << 64) - 1  # AccumulateGrad and the like
# Rows of a session that are no operator calls; the oracle has nothing like them.
OTHER_KINDS = ("python_mode", "torch_function", "backward_node")


@dataclass
class Node:
    name: str
    sequence_nr: int
    next: list      # names of the nodes that its edges lead to, by slot; "none" = no gradient flows there
    made: bool      # False: made outside of any call, this row only met it


@dataclass
class Row:
    thread: int
    depth: int
    op: str
    kind: str       # call, redispatch, missing_kernel; "unknown" on the oracle's side in its blind spots
    key: str
    keyset: int
    included: int
    excluded: int
    grad: bool
    inference: bool
    arguments: object = None   # raw union over the arguments; None = not said
    raised: object = None      # first line of the message; None = returned
    nodes: list = field(default_factory=list)
    boxed: bool = False        # session only
    undefined: int = 0         # session only: the key set of an undefined tensor
    id: int = 0                # session: event id; oracle: index of the row

    def text(self):
        return "%s%s  %s  %s  0x%x" % ("  " * self.depth, self.op, self.kind, self.key, self.keyset)


def unsigned(value):
    return value & (1 << 64) - 1


def fold(raw):
    """The oracle's rows, each call and the landing hop one deeper made one."""
    rows = []
    open_rows = {}  # thread -> [(oracle's depth, folded row)]
    previous = {}   # thread -> its last row
    for index, r in enumerate(raw):
        stack = open_rows.setdefault(r["thread"], [])
        lands = (r["kind"] == "hop" and stack and stack[-1][0] == r["depth"] - 1 and stack[-1][1].kind == "missing_kernel" and
                 previous[r["thread"]]["kind"] == "call" and stack[-1][1].op == r["op"])
        previous[r["thread"]] = r
        nodes = [Node(n["name"], n["seq"], n["next"], n["seq"] >= r["seq"][0]) for n in r["nodes"]]
        if lands:
            row = stack[-1][1]
            row.kind = row.pending
            row.key, row.keyset = r["key"], int(r["ks"], 16)
            row.nodes += nodes
            row.raised = row.raised or r["raised"] or None
            continue
        while stack and stack[-1][0] >= r["depth"]:
            stack.pop()
        parent = stack[-1][1] if stack else None
        row = Row(r["thread"], parent.depth + 1 if parent else 0, r["op"], "redispatch", r["key"], int(r["ks"], 16), int(r["inc"], 16),
                  int(r["exc"], 16), bool(r["grad"]), bool(r["inf"]), None, r["raised"] or None, nodes, id=index)
        # A Python handler may enter the kernel of a key of its choice (OpOverload._op_dk), which nothing announces.
        # A key above the oracle's own hands its set on with the oracle's bit in it: what follows only looks like a call.
        above = parent is not None and parent.op == row.op and parent.key in ("PythonDispatcher", "PreDispatch")
        if r["kind"] == "call":
            row.kind = "missing_kernel"  # until it lands
            row.pending = "unknown" if above else "call"
            row.arguments = int(r["args"], 16)
        elif r["announced"]:
            row.kind = "call"
        elif not r["on"] and (parent is None or parent.op != row.op or parent.key == "Python") or above or row.key in ("PythonDispatcher", "PreDispatch"):
            row.kind = "unknown"
        rows.append(row)
        stack.append((r["depth"], row))
    return rows


def read_oracle(path):
    with open(path) as f:
        return fold(json.load(f))


def read_session(path):
    """The rows of a session, by the names of the file's public surface alone; and its meta table."""
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.row_factory = sqlite3.Row
    main = dict(db.execute("SELECT id, os_id FROM process ORDER BY id LIMIT 1").fetchall())
    (process, os_id), = main.items()
    threads = {t["id"]: 0 if t["process"] == process and t["os_id"] == os_id else t["id"] for t in db.execute("SELECT * FROM thread")}
    errors = {}
    for event, message in db.execute("SELECT event, message FROM error ORDER BY rowid"):
        errors[event] = (message or "").split("\n")[0]
    nodes = {}
    names = {}
    for n in db.execute("SELECT n.id, n.event, n.found_event, s.value AS name, n.sequence_nr FROM node n JOIN string s ON s.id = n.name ORDER BY n.id"):
        names[n["id"]] = n["name"]
        if unsigned(n["sequence_nr"]) != NO_SEQUENCE:
            made = n["event"] is not None
            nodes.setdefault(n["event"] if made else n["found_event"], []).append((n["id"], Node(n["name"], n["sequence_nr"], [], made)))
    edges = {}
    for node, next_node in db.execute("SELECT node, next_node FROM edge ORDER BY node, slot"):
        edges.setdefault(node, []).append(names.get(next_node, "none") if next_node else "none")
    undefined = sum(1 << bit for (bit,) in db.execute("SELECT functionality_bit FROM dispatch_key WHERE name IN ('AutogradOther', 'ADInplaceOrView')"))
    rows, by_id, skipped = [], {}, {}
    query = """SELECT h.id, h.parent, h.thread, h.op, h.kind, h.key, s.raw AS keyset, a.raw AS arguments, t.included, t.excluded, t.grad_mode,
                      t.inference_mode, e.flags
               FROM hop h JOIN event e USING (id) LEFT JOIN keyset s ON s.id = e.keyset LEFT JOIN keyset a ON a.id = e.arg_keyset
               LEFT JOIN tls t ON t.id = e.tls ORDER BY h.id"""
    for e in db.execute(query):
        parent = by_id.get(e["parent"])
        if e["kind"] in OTHER_KINDS:
            skipped[e["kind"]] = skipped.get(e["kind"], 0) + 1
            by_id[e["id"]] = parent  # its children belong to the call around it
            continue
        row = Row(threads.get(e["thread"], e["thread"]), parent.depth + 1 if parent else 0, e["op"], e["kind"].replace("_boxed", ""), e["key"],
                  unsigned(e["keyset"] or 0), unsigned(e["included"] or 0), unsigned(e["excluded"] or 0), bool(e["grad_mode"]),
                  bool(e["inference_mode"]), None if e["arguments"] is None else unsigned(e["arguments"]),
                  (errors.get(e["id"], "?") or "?") if e["flags"] and e["flags"] & 1 else None, boxed="boxed" in e["kind"], undefined=undefined, id=e["id"])
        for node_id, node in nodes.get(e["id"], ()):
            node.next = edges.get(node_id, [])
            row.nodes.append(node)
        by_id[e["id"]] = row
        rows.append(row)
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    meta["other rows"] = skipped
    db.close()
    return rows, meta
