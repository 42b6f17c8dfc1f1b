"""CPU allocations as recorded, against PyTorch's profiler with profile_memory in the same run: the same blocks, sizes and order, and the same bytes in use.

Both look at once, so this also says that the profiler's own memory history goes on working beside the recorder.
"""
import json
import os
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

PROGRAM = """
import sys, torch
from torch.profiler import ProfilerActivity, profile
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
def step():
    x = torch.randn(16, 32)
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    y = torch.zeros(3)
    y.resize_(300)
    return y.tolist()[:1], torch.cat([x, x]).clone().t().contiguous().sum().item()
step()
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
    torch.eye(7)
    for _ in range(5):
        step()
    torch.eye(7)
p.export_chrome_trace(sys.argv[1])
"""


def main():
    harness.need()
    folder = tempfile.mkdtemp(prefix="peel-memory-")
    program, trace, session = (os.path.join(folder, n) for n in ("program.py", "trace.json", "x.peel"))
    with open(program, "w") as f:
        f.write(PROGRAM)
    status, _, err = harness.record(session, [program, trace], timeout=300)
    if status:
        print("recording ended with %d: %s" % (status, err))
        return 1
    with open(trace) as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("name") == "[memory]" and e["args"]["Device Type"] == 0]
    events.sort(key=lambda e: e["args"]["Ev Idx"])
    theirs = [(e["args"]["Addr"], e["args"]["Bytes"]) for e in events]
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    marks = [t for t, in db.execute("SELECT begin_ns FROM hop WHERE op = 'aten::eye' AND parent IS NULL ORDER BY id")]
    rows = db.execute("SELECT m.time_ns, m.address, CASE m.action WHEN 0 THEN m.size ELSE -m.size END, m.event, m.stack, m.storage FROM memory_event m JOIN string d ON d.id = m.device WHERE d.value = 'cpu' ORDER BY m.id").fetchall()
    ours = [(address, size) for _, address, size, *_ in rows]
    # The profiler begins around the first mark, and says nothing of blocks that are older than itself.
    at = next((i for i, pair in enumerate(ours) if pair == theirs[0] and rows[i][0] > marks[0] - 10**9), None)
    young, told = set(), []
    for address, size in ours[at:] if at is not None else []:
        if size > 0:
            young.add(address)
            told.append((address, size))
        elif address in young:
            young.discard(address)
            told.append((address, size))
    problems = []
    if not theirs or len(theirs) < 100:
        problems.append("the profiler told of %d events only" % len(theirs))
    if told[:len(theirs)] != theirs:
        n = next((i for i, (x, y) in enumerate(zip(theirs, told)) if x != y), min(len(theirs), len(told)))
        problems.append("histories part at event %d of %d: profiler %r, recorder %r" % (n, len(theirs), theirs[n:n + 4], told[n:n + 4]))
    else:
        known = {}
        for address, size in ours[:at]:
            if size > 0:
                known[address] = size
            else:
                known.pop(address, None)
        before = sum(known.values())
        # What the profiler counts begins with its first event; both then go up and down alike.
        used = 0
        for (_, size), e in zip(theirs, events):
            used += size
            want = e["args"]["Total Allocated"] - events[0]["args"]["Total Allocated"] + events[0]["args"]["Bytes"]
            if used != want:
                problems.append("bytes in use: %d by the history, %d by the profiler" % (used, want))
                break
        outside = [r for r in rows if r[2] > 0 and r[3] is None and r[4] is None]  # at the end frees come where no Python runs
        if outside:
            problems.append("%d events have neither hop nor line" % len(outside))
        if len(marks) != 2:
            problems.append("%d marks" % len(marks))
        print("%d CPU events equal, in order; %d bytes were in use before them; %d of all %d outside of hops; %d without a storage" % (
            len(theirs), before, sum(1 for r in rows if r[3] is None), len(rows), sum(1 for r in rows if r[5] is None)))
    for p in problems:
        print(p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
