"""`peel whatif --run` on the embedded engine: each change is predicted from a recording, really made, and every call's first kernel is the predicted one."""
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]
import harness  # noqa: E402

# Program -> changes, each with what has to be so of its rows (outcomes that must be there) and how many calls at least are compared.
CHANGES = {
    "train_step.py": [
        (["--exclude", "AutogradCPU"], {"changes"}, 15),
        (["--exclude", "ADInplaceOrView"], set(), 30),
        (["--include", "AutocastCPU"], set(), 100),  # excluded by default, which wins
        (["--include", "AutogradOther", "--exclude", "AutogradCPU"], {"changes"}, 15),
        (["--enter", "no_grad"], set(), 15),
        (["--enter", "autocast:cpu"], {"changes"}, 20),
        (["--register", "aten::addmm@CPU"], {"layer"}, 60),
        (["--register", "aten::relu@AutogradCPU"], {"changes"}, 60),
        (["--register", "aten::mse_loss@CompositeImplicitAutograd"], set(), 60),
        (["--fallthrough", "aten::relu@AutogradCPU"], {"changes"}, 30),
        (["--remove", "aten::mse_loss@CPU"], {"raises"}, 30),
        (["--register", "*@AutocastCPU"], set(), 0),  # the engine has one there
    ],
    "grad_modes.py": [
        (["--exclude", "AutogradCPU"], {"changes"}, 5),
        (["--enter", "inference_mode"], {"changes"}, 5),
        (["--enter", "enable_grad"], set(), 5),
        (["--register", "aten::exp@CPU"], {"layer", "changes"}, 70),
        (["--fallthrough", "aten::add_.Tensor@ADInplaceOrView"], {"layer"}, 70),
        (["--remove", "aten::exp@CPU"], {"raises"}, 3),
    ],
}


def record(program, folder):
    path = os.path.join(folder, program + ".peel")
    status, out, err = harness.run([harness.peel(), "record", "--engine", "embedded", "-o", path, os.path.join(harness.PROGRAMS, program)])
    assert status == 0, err
    return path


def hop_changes(path):
    """The outermost calls of train_step's second forward, each changed alone; a range of them; the span of a module."""
    status, out, err = harness.run([harness.peel(), "query", path, "SELECT id FROM hop WHERE op = 'aten::linear' AND parent IS NULL", "--json"])
    assert status == 0, err
    linear = [int(re.search(r"\d+", line[line.index(":"):])[0]) for line in out.splitlines()]
    status, out, err = harness.run([harness.peel(), "query", path, "SELECT id FROM span WHERE kind = 'module' AND name = 'net.0'", "--json"])
    assert status == 0, err
    span = [int(re.search(r"\d+", line[line.index(":"):])[0]) for line in out.splitlines()]
    return [(["--exclude", "AutogradCPU", "--hop", str(linear[2])], {"changes"}, 30), (["--enter", "inference_mode", "--hop", str(linear[0])], {"changes"}, 5),
            (["--enter", "autocast:cpu", "--span", str(span[1])], {"changes"}, 30)]


def main():
    harness.need(torch=False)
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="peel-whatif-run-") as folder:
        for program, changes in CHANGES.items():
            path = record(program, folder)
            for options, wanted, least in changes + (hop_changes(path) if program == "train_step.py" else []):
                status, out, err = harness.run([harness.peel(), "whatif", path, *options, "--run"])
                said = re.search(r"Really run: ([\d,]+) of ([\d,]+) call", out)
                rows = []
                if status == 0:
                    _, lines, _ = harness.run([harness.peel(), "whatif", path, *options, "--run", "--json"])
                    rows = [json.loads(line) for line in lines.splitlines()]
                outcomes = {r["outcome"] for r in rows}
                if least == 0:
                    good = status == 2 and "backend fallback" in err
                else:
                    count += 1
                    good = status == 0 and said and said[1] == said[2] and int(said[1].replace(",", "")) >= least and wanted <= outcomes and all(r["agrees"] for r in rows)
                failed += not good
                print("%s %s %s: %s" % ("ok" if good else "FAILED", program, " ".join(options), said[0] if said else err.strip()), flush=True)
                if not good:
                    print("  outcomes %s\n%s%s" % (outcomes, out[-3000:], err[-1000:]))
        # Refusals, a sentence each.
        path = record("grad_modes.py", folder)
        for options, words in ((["--exclude", "CPU", "--from", "2", "--to", "3"], "the range"), (["--register", "mine::f@CPU"], "mine::f"), (["--enter", "autocast:cuda"], "autocast:cpu only")):
            status, out, err = harness.run([harness.peel(), "whatif", path, *options, "--run"])
            good = status == 2 and words in err and len(err.splitlines()) == 1
            failed += not good
            print("%s refused %s: %s" % ("ok" if good else "FAILED", " ".join(options), err.strip()))
        program = os.path.join(folder, "changing.py")
        with open(program, "w") as f:
            f.write("import torch\ntorch.ones(2).exp()\n")
        status, _, err = harness.run([harness.peel(), "record", "--engine", "embedded", "-o", path, program])
        assert status == 0, err
        with open(program, "a") as f:
            f.write("torch.ones(3)\n")
        status, out, err = harness.run([harness.peel(), "whatif", path, "--exclude", "CPU", "--run"])
        good = status == 2 and "was changed since it was recorded" in err
        failed += not good
        print("%s refused after a change of the source: %s" % ("ok" if good else "FAILED", err.strip()))
    print("%d changes, %d failed" % (count, failed))
    return 1 if failed or count < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
