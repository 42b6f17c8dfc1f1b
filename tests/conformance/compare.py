"""Holds a session's rows against the oracle's. The first place where the two part is shown with both sides around it."""
from collections import Counter

from exclusions import excluded

SHAPE = ("op", "depth", "kind", "key")      # rows that differ here are not the same hop: comparing stops
FIELDS = ("keyset", "included", "excluded", "grad", "inference", "arguments", "raised")
CONTEXT = 6


class Result:
    def __init__(self):
        self.rows = 0
        self.nodes = 0
        self.applied = Counter()  # exclusion -> how often
        self.problems = []        # text, first of each sort

    def ok(self):
        return not self.problems


def by_thread(rows):
    threads = {}
    for row in rows:
        threads.setdefault(row.thread, []).append(row)
    return threads


def around(title, rows, at):
    lines = ["  %s:" % title]
    for i in range(max(0, at - CONTEXT), min(len(rows), at + CONTEXT + 1)):
        lines.append("  %s %7d  %s" % (">" if i == at else " ", rows[i].id, rows[i].text()))
    if at >= len(rows):
        lines.append("  >          (ends here: %d rows)" % len(rows))
    return "\n".join(lines)


def shown(what, value):
    if what in ("keyset", "included", "excluded", "arguments") and value is not None:
        return "0x%x %s" % (value, set_text(value))
    return repr(value)


def set_text(raw):
    """The names of a raw set, as PyTorch itself prints them; nothing when there is no PyTorch here."""
    try:
        import torch
        return repr(torch._C.DispatchKeySet.from_raw_repr(raw))
    except (ImportError, AttributeError, TypeError):
        return ""


def differs(what, a, b):
    if what == "raised":
        return (a is None) != (b is None)
    return a != b


def compare_thread(label, oracle, session, result):
    seen = Counter()
    for i in range(max(len(oracle), len(session))):
        a, b = (rows[i] if i < len(rows) else None for rows in (oracle, session))
        parted = None
        if a is None or b is None:
            parted = "the %s side ends" % ("oracle's" if a is None else "session's")
        else:
            for what in SHAPE:
                if getattr(a, what) != getattr(b, what):
                    name = excluded(a, b, what)
                    if name:
                        result.applied[name] += 1
                    else:
                        parted = what
                        break
        if parted:
            result.problems.append("%s: rows part at row %d (%s)\n%s\n%s" % (label, i, parted, around("oracle", oracle, i), around("session", session, i)))
            return
        result.rows += 1
        for what in FIELDS:
            x, y = getattr(a, what), getattr(b, what)
            if what == "arguments" and b.kind == "redispatch" and y is None:
                continue
            if differs(what, x, y):
                name = excluded(a, b, what)
                if name:
                    result.applied[name] += 1
                    continue
                seen[what] += 1
                if seen[what] == 1:
                    result.problems.append("%s: %s differs at row %d\n  oracle  %s\n  session %s\n%s\n%s" % (
                        label, what, i, shown(what, x), shown(what, y), around("oracle", oracle, i), around("session", session, i)))
            elif what == "raised" and x is not None and x != y:
                result.applied["message"] += 1
    for what, n in seen.items():
        if n > 1:
            result.problems.append("%s: %s differs at %d rows in all" % (label, what, n))
    compare_nodes(label, oracle, session, result)


def compare_nodes(label, oracle, session, result):
    """Each node: name, sequence number, the hop that made it, and where its edges lead. The oracle finds nodes only through tensors that
    calls take or return, so a node of the session that it never met is no difference, but it is counted."""
    made = {n.sequence_nr: (i, row, n) for i, row in enumerate(session) for n in row.nodes}
    known, first, count = set(), None, 0
    for i, row in enumerate(oracle):
        for n in row.nodes:
            known.add(n.sequence_nr)
            result.nodes += 1
            at, other, m = made.get(n.sequence_nr, (None, None, None))
            if m is None and not n.made and row.depth > 0:
                result.applied["nodes that passed away"] += 1
                continue
            if m is None:
                problem = "the session has no node with sequence number %d" % n.sequence_nr
            elif m.name != n.name:
                problem = "name: oracle %s, session %s" % (n.name, m.name)
            elif n.made and (at != i or not m.made):
                problem = "made by: oracle row %d (%s), session row %d (%s)%s" % (i, row.op, at, other.op, "" if m.made else ", only met there")
            elif not n.made and m.made:
                problem = "made outside of a call, but the session says by row %d (%s)" % (at, other.op)
            elif m.next != n.next:
                problem = "edges: oracle %s, session %s" % (n.next, m.next)
            else:
                continue
            count += 1
            first = first or "node %s #%d: %s\n%s" % (n.name, n.sequence_nr, problem, around("oracle", oracle, i))
    if first:
        result.problems.append("%s: %d nodes differ, first: %s" % (label, count, first))
    unknown = sum(1 for sequence_nr in made if sequence_nr not in known)
    if unknown:
        result.applied["nodes that the oracle never met"] += unknown


def compare(oracle, session):
    """Both lists of rows.Row, thread by thread: the main one by name, others by what they did."""
    result = Result()
    ours, theirs = by_thread(session), by_thread(oracle)
    compare_thread("main thread", theirs.pop(0, []), ours.pop(0, []), result)
    for thread, rows in sorted(theirs.items()):
        sequence = [(r.op, r.depth, r.key) for r in rows]
        same = [t for t, other in ours.items() if [(r.op, r.depth, r.key) for r in other] == sequence]
        if same:
            compare_thread("thread %d" % thread, rows, ours.pop(same[0]), result)
        else:
            near = max(ours, key=lambda t: sum(x == (r.op, r.depth, r.key) for x, r in zip(sequence, ours[t])), default=None)
            compare_thread("thread %d" % thread, rows, ours.pop(near, []), result)
    for thread, rows in ours.items():
        result.problems.append("thread %d of the session has %d rows, but no thread of the oracle matches\n%s" % (thread, len(rows), around("session", rows, 0)))
    return result
