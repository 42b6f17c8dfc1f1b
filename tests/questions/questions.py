"""Twenty questions that people ask about small programs (assets/programs/questions), each answered by one peel command.

    questions.py [--keep FOLDER] [QUESTION...]

Records every program on stock PyTorch, runs the command of its question and looks for the answer in what it prints. The sessions stay in
FOLDER, where the GUI test takes them from (PEEL_QUESTIONS): there the same answers are three actions or fewer away.
"""
import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

PROGRAMS = os.path.join(harness.PROGRAMS, "questions")


class Session:
    """A recorded session and the numbers in it that a command needs."""

    def __init__(self, path):
        self.path = path
        status, out, err = harness.run([harness.peel(), "show", path, "--json", "--max-rows", "0"])
        if status:
            raise RuntimeError(err)
        self.rows = [json.loads(line) for line in out.splitlines()]

    def hop(self, op, nth=0, **where):
        """Number of the nth call of the operator (or hop, where `kind` is given) among those whose fields are as given."""
        where = dict({"kind": "call"}, **where)
        found = [r["id"] for r in self.rows if r["op"] == op and all(r[k] == v for k, v in where.items())]
        return str(found[nth])

    def tensor(self, hop, name):
        status, out, err = harness.run([harness.peel(), "query", self.path, "SELECT tensor FROM call_argument WHERE event = %s AND name = '%s'" % (hop, name), "--json"])
        if status:
            raise RuntimeError(err)
        return "t%d" % json.loads(out.splitlines()[0])["tensor"]


def findings(s):
    return ["findings", s.path]


def take(text, panel="Findings", then=None):
    """In the window: a click on the finding with that text; the answer is in `panel`."""
    def steps(s):
        status, out, err = harness.run([harness.peel(), "findings", s.path, "--json"])
        rows = [json.loads(line) for line in out.splitlines()]
        return panel, ["finding %d" % [text in r["text"] for r in rows].index(True)], then or text
    return steps


def go(hop, panel, text):
    """In the window: the hop by its number (Ctrl+G), then the panel's tab, if it isn't seen already."""
    return lambda s: (panel, ["go " + hop(s)] + ([] if panel == "Why" else ["show " + panel]), text)


# question: (command, what its output must say in this order, the way in the window: panel, actions, what the panel then says)
QUESTIONS = {
    "autocast_cache": (lambda s: ["tensor", s.path, s.tensor(s.hop("aten::t", 1), "self")], [r"born in \w+ within linear with grad mode on", r"used by linear as weight +autocast_cache.py:9", r"used by linear as weight +autocast_cache.py:10"],
                       go(lambda s: s.hop("aten::to.dtype", 1), "Tensor", "within linear with grad mode on")),
    "composite_override": (lambda s: ["op", s.path, "tensor_split.indices"], [r"AutogradCPU +at first: math kernel.*\n.*from hop \d+: backend fallback.*\n.*from hop \d+: math kernel", r"CPU +at first: math kernel.*\n.*from hop \d+: kernel, composite_override.py:11.*\n.*from hop \d+: math kernel"],
                           go(lambda s: s.hop("aten::tensor_split.indices", 1), "Operator", "kernel, composite_override.py:11")),
    "four_modes": (lambda s: ["diff", s.path], [r"changed +view .*AG IV CPU +-> +CPU", r"changed +linear .*AutogradCPU skipped: excluded by inference_mode", r"4 of 4 calls differ"],
                   lambda s: ("Compare", ["key Ctrl+2"], "AutogradCPU skipped: excluded by inference_mode")),
    "inference_saved": (findings, [r"mul raised RuntimeError: Inference tensors cannot be saved", r"self t\d+ was made by ones \(hop \d+\) under inference_mode at inference_saved.py:5"],
                        take("under inference_mode")),
    "no_grad_view": (findings, [r"mul_ raised RuntimeError: A view was created in no_grad mode", r"self t\d+ is a view made by select \(hop \d+\) under no_grad at no_grad_view.py:6"],
                     take("under no_grad")),
    "custom_kernel": (findings, [r"peel_ask::opaque has no kernel at Autograd .* no gradient goes through"],
                      take("hides its work from it")),
    "version_counter": (findings, [r"changed +add_ at version_counter.py:6 wrote t\d+, which ExpBackward0 saved at version 0 \(hop \d+\): at version 1 backward refused it",
                                   r"changed +t\d+, saved by ExpBackward0 .* was written through t\d+ by add_ at version_counter.py:12"],
                        take("which has a version counter of its own")),
    "contradictory": (findings, [r"t\d+ is an inference tensor and requires a gradient at once, seen at sum; it was made by ones \(hop \d+\) under inference_mode at contradictory.py:9"],
                      take("an inference tensor and requires a gradient at once")),
    "lazy_conjugate": (findings, [r"exp worked on a copy of t\d+ c64\[2\]: the Conjugate fallback"],
                       take("the Conjugate fallback")),
    "vmap_fallback": (findings, [r"copy_ raised RuntimeError: vmap: inplace", r"histc was called 3 times for one call"],
                      take("was called 3 times for one call")),
    "grad_of_a_view": (lambda s: ["tensor", s.path, s.tensor(s.hop("aten::mul.Tensor"), "self")], [r"ViewBackward0 made it, so backward passes its gradient on", r"born in view, a view of t1"],
                       go(lambda s: s.hop("aten::view"), "Tensor", "ViewBackward0 made it")),
    "many_views": (findings, [r"mul_ raised RuntimeError: Output 0 of Unbind", r"self t\d+ is a view made by unbind \(hop \d+\) at many_views.py:4"],
                   take("is a view made by unbind")),
    "growing_loss": (lambda s: ["memory", s.path, "--device", "cpu", "--by", "node"], [r"160 KiB +5 blocks +TanhBackward0"],
                     lambda s: ("Memory", ["key Ctrl+3", "click Memory/by\\/saved by"], "TanhBackward0")),
    "wrong_backend": (lambda s: ["why", s.path, s.hop("peel_ask::gelu_fast", kind="missing_kernel")], [r"has no kernel for CPU", r"available: CUDA", r"near: CUDA", r"registered: CUDA, kernel, wrong_backend.py:4"],
                      take("has no kernel for CPU", "Why", "available: CUDA")),
    "mode_below_linear": (lambda s: ["why", s.path, s.hop("aten::linear")], [r"Python, CPU below: the kernel at AutogradCPU is composite, it called other operators instead"],
                          go(lambda s: s.hop("aten::linear"), "Why", "Python, CPU below: the kernel at AutogradCPU is composite")),
    "step_too_early": (findings, [r"changed +add_ at step_too_early.py:10 wrote t\d+, which AddmmBackward0 saved at version 1 \(hop \d+\): at version 2 backward refused it"],
                       take("backward refused it")),
    "backward_twice": (findings, [r"backward of ExpBackward0 raised at backward_twice.py:9; backward ran this node before, in hop \d+ at backward_twice.py:7"],
                       take("backward ran this node before")),
    "silent_copy": (findings, [r"reshape copied t\d+ f32\[4,3\]: no view of it has that shape, as its strides are \[1, ?4\] at silent_copy.py:7"],
                    take("no view of it has that shape")),
    "runs_twice": (lambda s: ["why", s.path, s.hop("aten::linear", 1)], [r"in backward of \w+ \(hop \d+\)"],
                   go(lambda s: s.hop("aten::linear", 1), "Why", "in backward of ")),
    "grad_in_a_thread": (lambda s: ["why", s.path, s.hop("aten::mul.Tensor", 1)], [r"on thread 2, grad mode on there"],
                         go(lambda s: s.hop("aten::mul.Tensor", 1), "Why", "on thread 2, grad mode on there")),
}


def ask(name, folder):
    """Problems, as sentences."""
    path = os.path.join(folder, name + ".peel")
    program = os.path.join(PROGRAMS, name + ".py")
    alone = harness.run([harness.python(), program])
    recorded = harness.record(path, [program])
    if alone[:2] != recorded[:2]:
        return ["alone it prints %r and ends with %d, recorded %r and %d: %s" % (alone[1], alone[0], recorded[1], recorded[0], recorded[2][-500:])], ""
    command, wanted, way = QUESTIONS[name]
    session = Session(path)
    arguments = command(session)
    status, out, err = harness.run([harness.peel(), *arguments])
    if status not in (0, 1):
        return ["peel %s ended with %d: %s" % (" ".join(arguments), status, err.strip())], out
    problems, at = [], 0
    for pattern in wanted:
        found = re.compile(pattern).search(out, at)
        if not found:
            problems.append("the answer lacks /%s/%s" % (pattern, " after what was found before" if at else ""))
            break
        at = found.end()
    if not problems:
        panel, actions, text = way(session)
        with open(os.path.join(folder, name + ".way"), "w") as f:
            f.write("\n".join(actions + ["panel " + panel, "says " + text]) + "\n")
        if len(actions) > 3:
            problems.append("%d actions in the window are more than three" % len(actions))
    return problems, "$ peel %s\n%s" % (" ".join(a.replace(folder + "/", "") for a in arguments), out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="folder to leave the sessions in")
    parser.add_argument("--show", action="store_true", help="print every answer")
    parser.add_argument("only", nargs="*", metavar="QUESTION")
    options = parser.parse_args()
    harness.need()
    folder = options.keep or tempfile.mkdtemp(prefix="peel-questions-")
    os.makedirs(folder, exist_ok=True)
    missing = sorted(set(f[:-3] for f in os.listdir(PROGRAMS) if f.endswith(".py")) ^ set(QUESTIONS))
    failed = ["no question or no program: " + ", ".join(missing)] if missing else []
    asked = options.only or list(QUESTIONS)
    for name in asked:
        problems, answer = ask(name, folder)
        print("%s %s" % ("FAILED" if problems else "ok", name), flush=True)
        if problems or options.show:
            print("".join("  " + line + "\n" for line in problems + answer.splitlines()), flush=True)
        if problems:
            failed.append(name)
    print("%d of %d questions are answered by one command%s" % (len(asked) - len(failed), len(asked), ": failed " + " ".join(failed) if failed else ""))
    gui = os.environ.get("PEEL_GUI_TESTS")
    if gui and not failed:
        status, out, err = harness.run([gui, "[questions]"], env=harness.environment(PEEL_QUESTIONS=folder), timeout=900)
        print(out.strip() if status else out.strip().splitlines()[-1])
        if status:
            failed.append("the window")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
