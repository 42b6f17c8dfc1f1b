"""What PyTorch itself says of dispatch tables, masks and sets, and the verdicts that follow: the independent answer that `peel why` is held against.

    verdicts.py PROGRAM.py OUT.json OPERATOR...   runs the program, then writes the tables of the operators and the bits of the keys

Nothing of Peel's takes part in that. A verdict is the first failing term of design.md's formula, computed here from thread-local sets and unions of the
arguments (which the oracle has confirmed for every row), and from masks that PyTorch's own answer "is this slot a fallthrough?" gives.
"""
import json
import os
import re
import sqlite3
import sys

import harness

CALLS, REDISPATCHES = ("call", "call_boxed"), ("redispatch", "redispatch_boxed")


def ask_pytorch(program, out, operators):
    import runpy

    import torch
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except (Exception, SystemExit):  # some programs end so; what they registered is there
        pass
    keys = {}
    for name in dir(torch._C.DispatchKey):
        k = getattr(torch._C.DispatchKey, name)
        if isinstance(k, torch._C.DispatchKey) and not name.startswith("_"):
            try:
                keys[str(k).split(".")[-1]] = torch._C.DispatchKeySet(k).raw_repr()
            except RuntimeError:  # aliases are in no set
                pass
    tables = {}
    for op in operators:
        if not torch._C._dispatch_has_kernel(op):
            continue
        text = torch._C._dispatch_dump_table(op)
        table, falls = {}, []
        for line in text.splitlines():
            m = re.match(r"(\w+): (fallthrough )?(.*) \[([^\]]*)\]$", line)
            if not m:
                continue
            table[m[1]] = [m[4], m[3]]
            if m[2]:
                falls.append(m[1])
        tables[op] = {"table": table, "falls": falls}
    with open(out, "w") as f:
        json.dump({"keys": keys, "tables": tables}, f)


class Stock:
    """Keys, masks and tables as PyTorch told them."""

    def __init__(self, path, session_keys):
        with open(path) as f:
            told = json.load(f)
        self.tables = told["tables"]
        # Names as the session has them; bits as PyTorch has them.
        self.bits = {name: told["keys"][name] for name in session_keys if told["keys"].get(name)}
        self.backends = 0
        for name in ("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"):
            raw = told["keys"].get(name, 0)
            self.backends |= raw & -raw
        self.masks = {}

    def has(self, raw, key):
        return self.bits[key] != 0 and raw & self.bits[key] == self.bits[key]

    def minus(self, a, b):
        return a & ~(b & ~self.backends)

    def mask(self, op, kept):
        """All ones less what falls through for the backend of the set."""
        backend = 1 << ((kept & self.backends).bit_length() - 1) if kept & self.backends else self.backends & -self.backends
        if (op, backend) not in self.masks:
            mask = (1 << 64) - 1
            for key in self.tables[op]["falls"]:
                bits = self.bits.get(key, 0)
                if not bits & self.backends or bits & backend:
                    mask &= ~(bits & ~self.backends)
            self.masks[op, backend] = mask
        return self.masks[op, backend]


def operators(session):
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    names = [n + ("." + o if o else "") for n, o in db.execute("SELECT name, overload FROM op ORDER BY id")]
    db.close()
    return names


class Check:
    def __init__(self, session, answer):
        db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
        unsigned = lambda v: None if v is None else v & (1 << 64) - 1  # noqa: E731
        # Numbers between the keys have a slot, too, but no name.
        self.keys = {name: slot for name, slot in db.execute("SELECT name, slot FROM dispatch_key WHERE slot IS NOT NULL AND name NOT LIKE 'Unknown%'")}
        self.stock = Stock(answer, self.keys)
        self.hops, self.children = {}, {}
        for e in db.execute("""SELECT h.id, h.parent, h.op, h.kind, h.key, s.raw, a.raw, t.included, t.excluded FROM hop h JOIN event e USING (id)
                               LEFT JOIN keyset s ON s.id = e.keyset LEFT JOIN keyset a ON a.id = e.arg_keyset LEFT JOIN tls t ON t.id = e.tls ORDER BY h.id"""):
            self.hops[e[0]] = dict(zip(("id", "parent", "op", "kind", "key", "set", "args", "inc", "exc"), e[:5] + tuple(map(unsigned, e[5:]))))
            self.children.setdefault(e[1], []).append(e[0])
        self.versions = {}
        for op, n in db.execute("SELECT o.name || CASE o.overload WHEN '' THEN '' ELSE '.' || o.overload END, count(DISTINCT t.since_event) FROM table_slot t JOIN op o ON o.id = t.op GROUP BY t.op"):
            self.versions[op] = n
        self.slots = {}
        for op, slot, rule, at, stale in db.execute("""SELECT o.name || CASE o.overload WHEN '' THEN '' ELSE '.' || o.overload END, t.slot, k.rule, k.registered_at, t.stale FROM table_slot t JOIN op o ON o.id = t.op
                LEFT JOIN kernel k ON k.id = t.kernel WHERE t.since_event = (SELECT max(since_event) FROM table_slot x WHERE x.op = t.op)"""):
            self.slots.setdefault(op, {})[slot] = (rule, at, stale)
        db.close()
        self.problems, self.verdicts, self.compared, self.left_out = [], 0, 0, 0

    def problem(self, text):
        if len(self.problems) < 8:
            self.problems.append(text)

    def check_tables(self):
        """Every slot: the rule and the place of registration that PyTorch dumps."""
        slots = 0
        for op, ours in self.slots.items():
            theirs = self.stock.tables.get(op)
            if not theirs:
                continue
            for key, slot in self.keys.items():
                want, have = theirs["table"].get(key), ours.get(slot)
                if want is None or want[0] == "missing":
                    if have:
                        self.problem("table of %s: %s has %s, PyTorch's dump has nothing" % (op, key, have))
                elif not have:
                    self.problem("table of %s: nothing at %s, PyTorch's dump has %s" % (op, key, want))
                elif not have[2] and want[0] != "ambiguous autogradother":
                    slots += 1
                    if [have[0], have[1]] != want:
                        self.problem("table of %s at %s: %s, PyTorch's dump has %s" % (op, key, have, want))
        return slots

    def call_of(self, hop):
        """The call whose formula a redispatch goes back to."""
        while hop and hop["kind"] in REDISPATCHES + ("missing_kernel",):
            up = self.hops.get(hop["parent"])
            hop = up if up and up["op"] == hop["op"] else None
        return hop if hop and hop["kind"] in CALLS else None

    def lost(self, hop, key):
        """The first failing term for a key that is not in the hop's set; None = not to be told from outside."""
        call = self.call_of(hop)
        if call is None or self.versions.get(call["op"]) != 1 or call["op"] not in self.stock.tables:
            return None
        if hop is not call and self.stock.has(call["set"], key):
            return "masked"
        every = call["args"] | call["inc"]
        if not self.stock.has(every, key):
            return "not_in_set"
        kept = self.stock.minus(every, call["exc"])
        if not self.stock.has(kept, key):
            return "excluded"
        if not self.stock.has(kept & self.stock.mask(call["op"], kept), key):
            return "fell_through"
        return "below"

    def inside(self, hop):
        """Hops of the same operator further in."""
        for c in self.children.get(hop["id"], ()):
            child = self.hops[c]
            if child["op"] == hop["op"]:
                yield child
                yield from self.inside(child)

    def check_verdict(self, hop, row):
        key, said = row["key"], row["verdict"]
        self.verdicts += 1
        if key == hop["key"]:
            wanted = "below" if hop["kind"] == "missing_kernel" else "ran"
        elif hop["set"] is not None and key in self.stock.bits and self.stock.has(hop["set"], key):
            ran = any(i["key"] == key and i["kind"] != "missing_kernel" for i in self.inside(hop))
            higher = self.stock.bits[key] > self.stock.bits.get(hop["key"], 0)
            wanted = "ran" if ran or higher else "below"
        else:
            wanted = self.lost(hop, key) if key in self.stock.bits else None
            # BackendSelect computes the backend: what it went on to ran for this call too.
            if wanted is None or (said == "ran" and any(i["key"] == key for i in self.inside(hop))):
                self.left_out += 1
                return
        self.compared += 1
        if said != wanted:
            self.problem("hop %d, %s at %s: %s is '%s' (%s), by PyTorch's own sets and masks '%s'" % (hop["id"], hop["op"], hop["key"], key, said, row["reason"], wanted))

    def run(self, rows):
        seen = {}
        for line in rows:
            row = json.loads(line)
            self.check_verdict(self.hops[row["id"]], row)
            seen.setdefault(row["id"], set()).add(row["key"])
        for hop in self.hops.values():  # every key of the formula has a verdict
            if hop["kind"] not in CALLS:
                continue
            raw = hop["args"] | hop["inc"]
            missing = [k for k in self.stock.bits if self.stock.has(raw, k) and k not in seen.get(hop["id"], ()) and k != "Undefined"]
            if missing:
                self.problem("hop %d, %s: no verdict on %s" % (hop["id"], hop["op"], missing))


def check(session, program, cache):
    """(problems, one line of numbers). `cache`: path to keep PyTorch's answer under."""
    answer = "%s-%s.json" % (cache, "tables")
    if not os.path.exists(answer):
        made = "%s.%d" % (answer, os.getpid())
        status, out, err = harness.run([harness.python(), os.path.abspath(__file__), program, made, *operators(session)], timeout=300,
                                       env=harness.environment(PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        if not os.path.exists(made):
            return ["PyTorch's tables could not be asked for (status %d): %s" % (status, err[-2000:])], ""
        os.replace(made, answer)
    status, out, err = harness.run([harness.peel(), "why", session, "--json"], timeout=300)
    if status != 0:
        return ["why --json ended with %d: %s" % (status, err)], ""
    c = Check(session, answer)
    slots = c.check_tables()
    c.run(out.splitlines())
    if c.compared == 0 or slots == 0:
        c.problem("nothing was compared")
    return c.problems, "%d verdicts and %d slots equal%s" % (c.compared, slots, ", %d verdicts not told from outside" % c.left_out if c.left_out else "")


if __name__ == "__main__":
    ask_pytorch(sys.argv[1], sys.argv[2], sys.argv[3:])
