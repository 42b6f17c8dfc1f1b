"""Programs on both engines. `peel record --engine embedded` and a recording of stock PyTorch, hop by hop: operator, kind, key, key set, union over the
arguments, thread-local state, nodes and their runs; and what the program prints, numbers to 1e-5. PROGRAMS says for each program what to expect:
that the two are equal, or what the embedded engine lacks, which the program must then name in one clean sentence."""
import glob
import os
import re
import sys
import tempfile

import engine_rows
import harness

EQUAL = None


class OnlyPrints(str):
    """The hops differ, for this reason; what is printed is the same."""


HERE = os.path.dirname(os.path.abspath(__file__))
# Program -> EQUAL, OnlyPrints, or what is lacking as the engine's sentence names it.
PROGRAMS = {
    "assets/grad_modes": EQUAL,
    "assets/train_step": EQUAL,
    "assets/custom_op": "torch.from_numpy",
    "programs/autocast": "torch.nn.MultiheadAttention",
    "programs/cnn": "torch.save",
    "programs/compile_eager": "torch._dynamo",
    "programs/compile_inductor": "torch.compile",
    "programs/complex_conj": "normal_kernel_cpu for complex64",
    "programs/custom_function": "torch.utils",
    "programs/dispatch_mode": "module torch._subclasses",
    "programs/exceptions": "torch.quantize_per_tensor",
    "programs/lstm": "module torch.nn.utils.rnn",
    "programs/small_things": "torch.Generator() beside the default one",
    "programs/sparse": "torch.sparse_coo_tensor",
    "programs/threads": EQUAL,
    "programs/transformer": "torch.nn.TransformerEncoderLayer",
    "programs/views_inplace": "torch.mul(Tensor, int, out=Tensor)",
    "programs/vmap_grad": "module torch.func",
    "embedded/printing": OnlyPrints("printing a tensor calls no operator here"),
}
FOLDERS = {"assets": harness.PROGRAMS, "programs": os.path.join(HERE, "programs"), "embedded": os.path.join(HERE, "embedded")}
for own in sorted(glob.glob(os.path.join(FOLDERS["embedded"], "*.py"))):
    PROGRAMS.setdefault("embedded/" + os.path.basename(own)[:-3], EQUAL)

SENTENCE = re.compile(r"The embedded engine has no (.*) yet; the program can be run on stock PyTorch \(--engine pytorch\)\.")
NUMBER = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-]\d+|-?\d+\.?\d*(?:e[+-]?\d+)?")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def parts(text):
    """The text without its numbers, and the numbers."""
    text = ADDRESS.sub("ADDRESS", text)
    return NUMBER.sub("#", text), [float.fromhex(n) if "x" in n else float(n) for n in NUMBER.findall(text)]


def printed_differences(ours, theirs):
    (our_words, a), (their_words, b) = parts(ours), parts(theirs)
    if our_words != their_words:
        for x, y in zip(ours.splitlines() + [""], theirs.splitlines() + [""]):
            if parts(x)[0] != parts(y)[0]:
                return ["printed: embedded %r, stock %r" % (x, y)]
    return ["printed: embedded %r, stock %r" % (x, y) for x, y in zip(a, b) if abs(x - y) > 1e-5 * max(1, abs(y))][:3]


def by_thread(path):
    """The rows of each thread. Threads have no names that both engines share: beside the main one they go by what they did."""
    rows = {}
    for row in engine_rows.stock(path):
        rows.setdefault(row.thread, []).append(row)
    others = sorted((all for name, all in rows.items() if name != "main"), key=lambda all: [r.text() for r in all])
    return {"main": rows.get("main", []), **{"thread %d" % i: all for i, all in enumerate(others)}}


def path_of(name):
    folder, program = name.split("/")
    return os.path.join(FOLDERS[folder], program + ".py")


def embedded(path, program):
    return harness.run([harness.peel(), "record", "--engine", "embedded", "-o", path, program])


def check_lacking(name, lacking, folder):
    status, out, err = embedded(os.path.join(folder, "lacking.peel"), path_of(name))
    found = SENTENCE.findall(out + err)  # a program may catch some and go on
    if status == 0 and not found:
        return ["listed as lacking %s, but it ran to its end: compare it (--try %s)" % (lacking, name)]
    if not found:
        return ["ended with %d without the sentence that names what is missing: %s" % (status, err[-600:])]
    return [] if lacking in found else ["listed as lacking %s, but it says %s" % (lacking, ", ".join(found))]


def check_equal(name, folder):
    """(problems, rows compared)."""
    sides = {}
    for engine in ("embedded", "stock"):
        path = os.path.join(folder, engine + ".peel")
        sides[engine] = embedded(path, path_of(name)) if engine == "embedded" else harness.record(path, [path_of(name)])
        if sides[engine][0] != 0:
            return ["on %s it ended with %d: %s" % (engine, sides[engine][0], sides[engine][2][-600:])], 0
    problems = printed_differences(sides["embedded"][1], sides["stock"][1])
    if isinstance(PROGRAMS[name], OnlyPrints):
        return problems, 0
    ours, theirs = (by_thread(os.path.join(folder, engine + ".peel")) for engine in ("embedded", "stock"))
    if sorted(ours) != sorted(theirs):
        problems.append("threads: embedded %s, stock %s" % (sorted(ours), sorted(theirs)))
    for thread in ours:
        count, lines = engine_rows.differences(ours[thread], theirs.get(thread, []), limit=24)
        if count:
            problems.append("%s: %d rows differ\n    %s" % (thread, count, "\n    ".join(lines)))
    info = harness.run([harness.peel(), "info", os.path.join(folder, "embedded.peel")])[1]
    explained = re.search(r"key sets: ([\d,]+) of ([\d,]+) explained", info)
    if not explained or explained[1] != explained[2]:
        problems.append("info: " + (explained[0] if explained else info))
    return problems, sum(map(len, theirs.values()))


def main():
    only = sys.argv[2:] if sys.argv[1:2] == ["--try"] else None
    version = harness.need()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, lacking in PROGRAMS.items():
            if only is not None and name not in only:
                continue
            if lacking is not EQUAL and not isinstance(lacking, OnlyPrints) and only is None:
                problems, text = check_lacking(name, lacking, folder), "lacks " + lacking
            else:
                problems, rows = check_equal(name, folder)
                text = "equal, %d rows" % rows if lacking is EQUAL else "prints the same; " + str(lacking)
            failed += bool(problems)
            print("%s %s: %s" % ("FAILED" if problems else "ok", name, "" if problems else text), flush=True)
            for problem in problems:
                print("  " + problem)
    print("torch %s: %d programs, %d failed" % (version.split()[0], len(PROGRAMS), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
