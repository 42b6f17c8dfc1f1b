"""Drives peel_core_replay and peel_tensor_replay, the embedded engine as programs, and gathers what stock PyTorch tells about its own.

    PEEL_CORE_REPLAY, PEEL_TENSOR_REPLAY     their paths (default: build/tests/conformance/peel_..._replay)
    PEEL_TEST_PYTHON, PEEL_REQUIRE_TORCH: as for the other tests (harness.py)
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

DUMP_LINE = re.compile(r"^(\w+)(\[alias\])?( \(inactive\))?: (.*) :: (.*) \[ (.*)\]$")


def under_torch(main):
    """Runs `main` in the Python that has PyTorch: this one, or the test again as a child of this one."""
    if os.environ.get("PEEL_DISPATCH_CHILD") == "1":
        sys.exit(main())
    harness.need(program=False)
    sys.exit(subprocess.call([harness.python(), *sys.argv], env=harness.environment(PEEL_DISPATCH_CHILD="1")))


class Replay:
    """One process, one dispatcher."""

    def __init__(self, part="core", *arguments):
        path = os.environ.get("PEEL_%s_REPLAY" % part.upper()) or os.path.join(harness.ROOT, "build", "tests", "conformance", "peel_%s_replay" % part)
        self.process = subprocess.Popen([path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send_all(self, commands):
        """Many commands, one answer list each; written by another thread, as both pipes can be full."""
        import threading
        text = "".join("\t".join(c) + "\n" for c in commands)
        writer = threading.Thread(target=lambda: (self.process.stdin.write(text), self.process.stdin.flush()))
        writer.start()
        answers = [self.answer() for _ in commands]
        writer.join()
        return answers

    def send(self, *command):
        self.process.stdin.write("\t".join(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the program ended with %s" % self.process.wait())
            line = line.rstrip("\n")
            if line == ".":
                return lines
            lines.append(line)

    def do(self, *command):
        """A command that must not fail or answer."""
        answer = self.send(*command)
        assert not answer, (command, answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def one_line(text):
    return text.replace("\n", "\x1f")


def registrations(dump):
    """(key, words, debug, inferred schema): of one key the oldest first, where the dump has the newest first. Among keys the time order is not
    told; backends before aliases, and implicit after explicit, leave no stored slot stale, as import leaves none in stock."""
    rows = [m.groups() for m in map(DUMP_LINE.match, dump.splitlines()) if m]
    order = {"Autograd": 5, "CompositeImplicitAutograd": 4, "FuncTorchBatchedDecomposition": 3, "CompositeImplicitAutogradNestedTensor": 2}
    rows = sorted(reversed(rows), key=lambda r: order.get(r[0], 1) if r[1] else 0)
    return [(key, words.strip(), debug, inferred) for key, _, _, debug, inferred, words in rows]


def feed_operator(name, dump):
    """Commands that make the operator as stock has it."""
    field = dict(line.split(": ", 1) for line in dump.splitlines() if re.match(r"(schema|debug|alias analysis kind): ", line))
    out = []
    if field["schema"] != "(none)":
        out.append(("def", name, field["schema"], field["debug"], field["alias analysis kind"]))
    for i, (key, words, debug, inferred) in enumerate(registrations(dump)):
        out.append(("impl", "%s#%d" % (name, i), name, key, words, debug, inferred))
    return out


def fallbacks(table_of_bare_operator):
    """Commands that register the backend fallbacks: an operator without kernels has nothing else in its table."""
    out = []
    for line in table_of_bare_operator.splitlines():
        key, fallthrough, debug, rule = re.match(r"^(\w+): (fallthrough )?(.*) \[([a-z ]+)\]$", line).groups()
        assert rule == "backend fallback", line
        out.append(("fallback", "fallback " + key, key, "fallthrough boxed" if fallthrough else "boxed", debug))
    return out


def bare_operator(torch):
    """The table of an operator without kernels; the library keeps it alive."""
    library = torch.library.Library("peel_bare", "DEF")
    library.define("nothing() -> ()")
    return library, torch._C._dispatch_dump_table("peel_bare::nothing")
