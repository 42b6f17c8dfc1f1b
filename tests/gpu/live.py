"""Stops a program at calls whose arguments are on a GPU and holds what is told of their values against what the program itself prints.

    live.py [--keep FOLDER]       needs a GPU; without one it ends as skipped

  * statistics of strided, half, integer, empty and expanded tensors; of results that the GPU is still to compute, on the default stream and on another one;
  * a stream that stays busy, and one that is captured into a graph, are told in a sentence, and the capture is not spoilt;
  * the program's output is that of the program alone;
  * looking leaves nothing in the recording: as many copies, waits and calls of CUDA as without a stop, and the same allocations.
"""
import argparse
import collections
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

BREAK = "op:alias kind:call_boxed device:cuda"
NUMBER = r"(-?(?:inf|[\d.]+(?:e[-+]?\d+)?))"


def traces(session):
    """What must be the same whether someone looked or not."""
    db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
    out = {t: db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_%s" % t).fetchone()[0] for t in ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION")}
    out["calls"] = collections.Counter(n for n, in db.execute("SELECT s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN string s ON s.id = r.nameId"))
    out["allocations"] = collections.Counter(db.execute("SELECT d.value, m.action, m.size FROM memory_event m JOIN string d ON d.id = m.device WHERE d.value LIKE 'cuda%' AND m.action IN (0, 1, 2)"))
    out["memory of CUDA"] = db.execute("SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS").fetchone()[0]
    db.close()
    return out


def compare(told, wanted):
    """Problems of one stop."""
    if wanted == "busy":
        return [] if "still busy" in told else ["a busy stream is told as %r" % told]
    if wanted == "captured":
        return [] if "captured into a CUDA graph" in told else ["a captured stream is told as %r" % told]
    least, most, mean, nan, infinite = wanted.split("|")
    problems = []
    span, same, middle = re.search(NUMBER + r" \.\. " + NUMBER, told), re.search("all " + NUMBER, told), re.search("mean " + NUMBER, told)
    if least and least != most:
        if not span or (float(span[1]), float(span[2])) != (float(least), float(most)):
            problems.append("%r, but the range is %s .. %s" % (told, least, most))
        elif not middle or abs(float(middle[1]) - float(mean)) > 1e-5 * max(1, abs(float(mean))):
            problems.append("%r, but the mean is %s" % (told, mean))
    elif least and (not same or float(same[1]) != float(least)):
        problems.append("%r, but all are %s" % (told, least))
    for word, count in (("NaN", nan), ("infinite", infinite)):
        found = re.search(r"(\d+) " + word, told)
        if (found[1] if found else "0") != count:
            problems.append("%r, but %s are %s" % (told, count, word))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="folder to leave the sessions in")
    options = parser.parse_args()
    harness.need()
    if subprocess.run([harness.python(), "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"], capture_output=True).returncode:
        print("skipped: there is no GPU that PyTorch could use")
        return harness.SKIPPED
    folder = options.keep or tempfile.mkdtemp(prefix="peel-gpu-live-")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(HERE, "programs", "looked.py")
    plain, stopped, commands = (os.path.join(folder, n) for n in ("plain.peel", "stopped.peel", "commands"))
    with open(commands, "w") as f:
        f.write("args\nc\n" * 60)
    alone = harness.run([harness.python(), program], timeout=300)
    unstopped = harness.record(plain, [program], timeout=600)
    status, out, err = harness.record(stopped, [program], ["--break", BREAK, "--break-commands", commands], timeout=600)
    problems = []
    for what, got in (("recorded", unstopped[:2]), ("stopped", (status, out))):
        if got != alone[:2]:
            problems.append("alone %r, %s %r: %s" % (alone[:2], what, got, (err if what == "stopped" else unstopped[2])[-800:]))
    # Each stop tells its arguments: by itself, and again by `args`.
    told = [text for _, text in re.findall(r"^  self +(?:t\d+ )?(\S+) *(.*)$", err, re.M)]
    wanted = alone[1].splitlines()
    print("%d stops told %d times" % (err.count("peel: stopped"), len(told)))
    if len(told) != 2 * len(wanted):
        problems.append("%d values are told, wanted two for each of %d: %s" % (len(told), len(wanted), err[-2000:]))
    else:
        for number, line in enumerate(wanted):
            for text in told[2 * number:2 * number + 2]:
                problems += ["stop %d: %s" % (number + 1, p) for p in compare(text, line)]
    if not problems:
        a, b = traces(plain), traces(stopped)
        problems += ["%s differ: %r without stops, %r with" % (k, a[k], b[k]) for k in a if a[k] != b[k]]
    for p in problems:
        print("  " + p)
    print("FAILED" if problems else "ok: %d stops, values as the program prints them, nothing of it in the recording" % len(wanted))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
