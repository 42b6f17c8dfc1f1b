"""The samples grad_modes.py and train_step.py, recorded on stock PyTorch, against the same programs on the embedded engine: every hop with its
operator, kind, key, key set, union over the arguments, thread-local state and nodes, every run of a node, and the numbers that are printed."""
import os
import re
import sys
import tempfile

import engine_rows
import harness


def printed(text):
    """The number of each line that ends in one."""
    return [float(m.group(1)) for m in re.finditer(r"(?m)^\S.*?:? +(-?\d+\.\d+)(?: \S+)?$", text)]


def main():
    version = harness.need()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for program in ("grad_modes", "train_step"):
            path = os.path.join(folder, program + ".peel")
            status, out, err = harness.record(path, [os.path.join(harness.PROGRAMS, program + ".py")])
            if status != 0:
                print("recording %s: %s" % (program, err))
                return 1
            theirs = engine_rows.stock(path, marks=False)
            ours, values = engine_rows.run(program)
            count, lines = engine_rows.differences(ours, theirs)
            numbers = printed(out)
            wrong = [(w, v, n) for (w, v), n in zip(values.items(), numbers) if abs(v - n) > 1e-5 * max(1, abs(n))]
            failed = failed or count or wrong or len(numbers) != len(values)
            print("torch %s, %s: %d rows of stock, %d of ours, %d differ; %d of %d numbers differ"
                  % (version.split()[0], program, len(theirs), len(ours), count, len(wrong) + abs(len(numbers) - len(values)), len(values)))
            for line in lines:
                print("  " + line)
            for w in wrong:
                print("  %s: ours %g, stock's %g" % w)
    return 1 if failed else 0


sys.exit(main())
