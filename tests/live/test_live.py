"""Breakpoints, steps and questions on both engines: what is told where the program stands is held against the engine itself. Changes of what happens next."""
import json
import os
import pty
import re
import select
import signal
import sys
import textwrap
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))
from support import IMPORT, Case, harness, main  # noqa: E402


def setUpModule():
    harness.need()


class Terminal:
    """A program on a terminal of its own, as a person has it."""

    def __init__(self, command):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, harness.environment(TERM="dumb"))

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self.fd, 65536)
        except OSError:  # the last process has closed it
            return False
        self.text += got.decode(errors="replace").replace("\r\n", "\n")
        return bool(got)

    def expect(self, words, seconds=120):
        """Waits for the words after what was expected before; returns the text up to them."""
        end = time.monotonic() + seconds
        while words not in self.text:
            if not self.read(0.1) and time.monotonic() > end:
                raise AssertionError("%r did not come; there is:\n%s" % (words, self.text))
        at = self.text.index(words) + len(words)
        seen, self.text = self.text[:at], self.text[at:]
        return seen

    def send(self, line):
        os.write(self.fd, (line + "\n").encode())

    def wait(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.05):
                    pass
                return status
        raise AssertionError("it does not end; there is:\n" + self.text)


class Session(Case):
    engine = ()  # options of peel

    def script(self, body):
        """A program of the body's lines; its first one is line 3."""
        return self.program(IMPORT + textwrap.dedent(body))

    def drive(self, program, breaks, commands=None, *options, **kw):
        """Records with breakpoints and a script; (status, stdout, stderr)."""
        self.session = self.path("out.peel")
        more = [o for b in breaks for o in ("--break", b)]
        if commands is not None:
            with open(self.path("commands"), "w") as f:
                f.write("\n".join(commands) + "\n")
            more += ["--break-commands", self.path("commands")]
        return harness.run([harness.peel(), "record", "-o", self.session, *self.engine, *more, *options, program], **kw)

    def terminal(self, program, breaks):
        self.session = self.path("out.peel")
        return Terminal([harness.peel(), "record", "-o", self.session, *self.engine, *[o for b in breaks for o in ("--break", b)], program])

    def stops(self, stderr):
        """(hop, operator, key, reason) of every stop that was told."""
        out = []
        for reason, rest in re.findall(r"^peel: stopped (.*)\n(.*)$", stderr, re.M):
            m = re.match(r"hop ([\d,]+)  (\S+)  (\S+)(?: -> (\S+))?", rest)
            out.append((int(m[1].replace(",", "")), m[2], m[4], reason) if m else (0, rest, "", reason))
        return out

    def loop(self):
        """The sample's training loop, longer."""
        with open(os.path.join(harness.PROGRAMS, "train_step.py")) as f:
            return self.program(f.read().replace("range(3)", "range(8)"), "train_step.py")


class Both:
    """What is so on both engines."""

    def test_a_session(self):
        """Break in a training loop, look, step in, step back, go on to the 10th hit, end the program there, open the file."""
        status, out, err = self.drive(self.loop(), ["op:addmm key:AutogradCPU"], ["args", "i", "I", "i", "u", "tls", "table", "why", "threads", "locals", "c 9", "breaks", "kill"])
        self.assertEqual(status, 128 + signal.SIGKILL, err)
        stops = self.stops(err)
        self.assertEqual([s[1:3] for s in stops], [("aten::addmm", "AutogradCPU"), ("aten::addmm", "CPU"), ("aten::addmm", "AutogradCPU"), ("aten::addmm", "AutogradCPU")], err)
        self.assertIn("hit 1", stops[0][3])
        self.assertIn("stepped", stops[1][3])
        self.assertEqual(stops[1][0], stops[0][0] + 1)
        self.assertIn("after the kernel", stops[2][3])   # out: the end of the parent
        self.assertEqual(stops[2][0], stops[0][0])
        self.assertIn("hit 10", stops[3][3])
        self.assertIn("about to run", err)
        self.assertIn("made AddmmBackward0", err)        # by the end of the parent the file has its node ...
        self.assertRegex(err, r"\n  result 0 +t\d+ f32\[32,16\]")  # ... and its result
        self.assertIn("autograd kernel", err)            # of the table
        self.assertIn("MainThread", err)
        self.assertIn("iteration = 0", err)
        self.assertIn("10 hits", err)
        # One loss a finished iteration; hits 9 and 10 are in the fifth.
        self.assertEqual(out.count("loss"), 4)
        self.assertEqual(self.meta()["state"], "crashed")
        self.assert_opens("crashed")
        # The hop it stood at is the last one, and open.
        last, end = self.rows("SELECT id, end_ns FROM event ORDER BY id DESC LIMIT 1")[0]
        self.assertEqual((last, end), (stops[3][0], None))
        self.assertEqual(self.one("SELECT op FROM hop WHERE id = ?", last), "aten::addmm")

    def test_results_are_the_same(self):
        """Stopping everywhere changes nothing that the program computes."""
        plain = harness.run([harness.peel(), "record", "-o", self.path("plain.peel"), *self.engine, self.loop()])
        status, out, err = self.drive(self.loop(), ["key:AutogradCPU"], ["i", "o", "args", "locals", "threads"] * 20)
        self.assertEqual((status, out), (0, plain[1]), err)

    def test_values(self):
        """Statistics equal PyTorch's own, for every dtype that is read and for strided, negated, conjugated and empty tensors."""
        status, out, err = self.drive(self.script(self.VALUES), [self.STOPS_AT], ["c"] * 40)
        self.assertEqual(status, 0, err)
        told = re.findall(r"^hop .*aten::(?:alias|neg) .*\n.*\n  self +t\d+ (\S+) *(.*)$", err, re.M)
        wanted = out.splitlines()
        self.assertEqual(len(told), len(wanted) + 2, err)
        numbers = r"(-?(?:inf|[\d.]+(?:e[-+]\d+)?))"
        for (brief, text), line in zip(told, wanted):
            least, most, mean, nan, infinite = line.split("|")
            with self.subTest(brief=brief, told=text, wanted=line):
                if least and least != most:
                    span = re.search(numbers + r" \.\. " + numbers, text)
                    self.assertEqual((float(span[1]), float(span[2])), (float(least), float(most)))
                    self.assertLess(abs(float(re.search("mean " + numbers, text)[1]) - float(mean)), 1e-5 * max(1, abs(float(mean))))
                elif least:
                    self.assertEqual(float(re.search("all " + numbers, text)[1]), float(least))
                self.assertEqual(re.search(r"(\d+) NaN", text)[1] if "NaN" in text else "0", nan)
                self.assertEqual(re.search(r"(\d+) infinite", text)[1] if "infinite" in text else "0", infinite)
        self.assertIn("meta tensors have no values", told[-2][1])
        self.assertRegex(told[-1][1], r"[-\d.]+[+-][\d.]+j, ")

    def test_every_kind_of_breakpoint(self):
        program = self.script("""
            w = torch.ones(3, 3, requires_grad=True)
            x = torch.ones(2, 3)
            y = (x @ w).relu()
            y.sum().backward()
            x.add_(1)
            z = x.mul_(2).sub_(1)
            with torch.no_grad():
                x.exp()
            try:
                x @ torch.ones(5)
            except RuntimeError:
                pass
            for i in range(3):
                x = x + 1; x = x * 2
            print("end")
        """)
        for text, wanted in {
            "line:program.py:5": ["matmul"],
            "line:16": ["add.Tensor"] * 3,                   # once a visit, though two operators are on the line
            "node:": ["mm", "relu", "sum", "SumBackward0", "ReluBackward0", "MmBackward0", "AccumulateGrad"],
            "node:Relu*": ["relu", "ReluBackward0"],         # made, and run in backward
            "write:": ["add_.Tensor", "mul_.Tensor", "sub_.Tensor"],
            "error:": ["mv"],                                # where it is first seen, not at each layer
            "error:RuntimeError": ["mv"],
            "error:ValueError": [],
            "finding:": ["mv"],
            "op:exp grad:off": ["exp", "exp"],
            "op:exp grad:on": [],
            "op:exp has:Autograd*": ["exp"],
            "op:mm key:CPU kind:redispatch": ["mm", "mm"],        # forward and backward
            "op:add.Tensor key:CPU hit:2": ["add.Tensor", "add.Tensor"],
            "kind:backward_node": None,
        }.items():
            with self.subTest(text=text):
                status, out, err = self.drive(program, [text])
                self.assertEqual((status, out), (0, "end\n"), err)
                seen = [s[1].replace("aten::", "") for s in self.stops(err)]
                if text == "write:":
                    seen = [s for s in seen if s in wanted]  # PyTorch's own kernels fill what they made, too
                if wanted is None:
                    self.assertGreater(len(seen), 3, err)
                elif text.startswith("error") or text == "finding:":
                    self.assertEqual(len(seen), len(wanted), err)
                else:
                    self.assertEqual(seen, wanted, err)

    def test_fields_of_arguments(self):
        """dtype, shape, device and requires_grad of one tensor; also with terms that only the kernel's end tells, and where nothing is recorded of values."""
        program = self.script("""
            a, b = torch.ones(2, 3), torch.ones(3, 4, dtype=torch.float64, requires_grad=True)
            m = torch.ones(2, 3, device="meta")
            a.neg()
            b.neg()
            m.add(m)
            torch.cat([a, a * 2])
            a.unsqueeze(0).neg()
            torch.ops.aten.neg.default(a)
            try:
                a @ a
            except RuntimeError:
                pass
            try:
                torch.ones(5, dtype=torch.int64) @ torch.ones(4, dtype=torch.int64)
            except RuntimeError:
                pass
            print("end")
        """)
        for text, wanted in {
            "op:aten::neg kind:call dtype:float64": ["neg"],
            "op:aten::neg kind:call -dtype:float64": ["neg"] * 3,
            "op:aten::neg kind:call,call_boxed shape:[2,3]": ["neg"] * 2,
            "op:aten::neg key:CPU shape:[*,3]": ["neg", "neg"],
            "op:aten::neg kind:call,call_boxed shape:[*,2,*]": ["neg"],
            "op:add.Tensor kind:call device:meta": ["add.Tensor"],
            "op:aten::neg kind:call,call_boxed device:cpu requires_grad:on dtype:f64": ["neg"],
            "op:aten::neg requires_grad:on dtype:f32": [],
            "op:cat kind:call shape:[2,3]": ["cat"],                  # in a list
            "op:mul.Tensor dtype:float32 kind:call": ["mul.Tensor"],
            "op:mul.Tensor dtype:float64,int64": [],                  # the 2 of a * 2
            "error: dtype:int64 shape:[4]": ["dot"],
            "node: dtype:float64": ["neg"],
            "op:aten::neg kind:call,call_boxed shape:[2,3] hit:2": ["neg"],
        }.items():
            for detail in ("standard", "keys"):
                if detail == "keys" and not text.startswith(("op:aten::neg kind:call", "error:")):
                    continue
                with self.subTest(text=text, detail=detail):
                    status, out, err = self.drive(program, [text], None, "--detail", detail)
                    self.assertEqual((status, out), (0, "end\n"), err)
                    self.assertEqual([s[1].replace("aten::", "") for s in self.stops(err)], wanted, err)

    def test_who_writes_this_tensor(self):
        program = self.script("""
            a, b = torch.zeros(4), torch.zeros(4)
            a.neg()
            b.add_(1)
            a[1:].mul_(3)
            b.sub_(1)
        """)
        status, _, err = self.drive(program, ["op:neg key:AutogradCPU"], ["b write:self", "b write:nothing", "c", "c"])
        self.assertEqual(status, 0, err)
        self.assertIn("no tensor of that name", err)
        self.assertEqual([s[1] for s in self.stops(err)], ["aten::neg", "aten::mul_.Tensor"], err)  # through a view, and only a's storage

    def test_two_threads(self):
        """A breakpoint that only the worker reaches stops the worker; the others' Python goes on, their hops wait."""
        program = self.script("""
            import threading
            beats = []
            def work():
                torch.ones(3).cos()
            def beat():
                while worker.is_alive():
                    beats.append(time.monotonic())
                    time.sleep(0.01)
            worker = threading.Thread(target=work, name="the worker")
            pulse = threading.Thread(target=beat)
            worker.start(); pulse.start()
            worker.join(); pulse.join()
            print("beats", len(beats) > 50, flush=True)
        """)
        t = self.terminal(program, ["op:cos"])
        stop = t.expect("peel> ")
        self.assertIn("aten::cos", stop)
        self.assertIn("of thread", stop)
        time.sleep(1.5)
        t.send("threads")
        threads = t.expect("peel> ")
        self.assertIn("the worker", threads)
        self.assertRegex(threads, r"MainThread.*program\.py:14")
        t.send("locals")
        self.assertIn("program.py", t.expect("peel> "))
        t.send("detach")
        t.expect("beats True")
        self.assertEqual(t.wait(), 0)

    def test_python_lock(self):
        """A hop that is entered with Python's lock held: it is let go of while the thread stands."""
        program = self.script("""
            import threading
            def beat():
                for i in range(20):
                    time.sleep(0.02)
                print("the other one was not held up", flush=True)
            threading.Thread(target=beat).start()
            torch.tensor([1.0, 2.0])
        """)
        t = self.terminal(program, ["line:9"])
        t.expect("peel> ")
        t.expect("not held up", 60)
        t.send("locals")
        t.expect("peel> ")
        t.send("detach")
        self.assertEqual(t.wait(), 0)

    def test_two_backwards_over_one_leaf(self):
        """A thread stands while it adds to a leaf's gradient; another one that comes to the same leaf waits, and Python goes on."""
        program = self.script("""
            import threading
            w = torch.ones(3, requires_grad=True)
            w.grad = torch.zeros(3)
            go = threading.Event()
            def work(n):
                loss = (w * n).sum()
                if n == 2:
                    go.wait()
                loss.backward()
            threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
            for t in threads: t.start()
            threads[0].join(0.2)
            go.set()
            for t in threads: t.join()
            print("grad", w.grad.tolist(), flush=True)
        """)
        for detail in ("standard", "keys"):
            with self.subTest(detail=detail):
                self.session = self.path("out.peel")
                t = Terminal([harness.peel(), "record", "-o", self.session, *self.engine, "--detail", detail, "--break", "op:add_.Tensor key:CPU", program])
                t.expect("peel> ")
                time.sleep(0.6)  # the other one is on its way by now
                t.send("locals")
                t.expect("peel> ")
                t.send("threads")
                self.assertIn("MainThread", t.expect("peel> "))
                t.send("detach")
                t.expect("grad [3.0, 3.0, 3.0]")
                self.assertEqual(t.wait(), 0)

    def test_kill_while_it_stands(self):
        t = self.terminal(self.loop(), ["op:addmm key:AutogradCPU"])
        t.expect("peel> ")
        os.kill(self.one("SELECT os_id FROM process"), signal.SIGKILL)
        self.assertEqual(os.waitstatus_to_exitcode(t.wait()), 128 + signal.SIGKILL)
        self.assertEqual(self.meta()["state"], "crashed")
        self.assert_opens("crashed")
        self.assertEqual(self.rows("SELECT op, key, end_ns FROM hop ORDER BY id DESC LIMIT 1"), [("aten::addmm", "AutogradCPU", None)])

    def test_kill_peel_while_it_stands(self):
        program = self.script("""
            for i in range(3):
                torch.ones(2).cos()
            open(sys.argv[1], "w").write("finished")
        """)
        self.session = self.path("out.peel")
        # Below a shell, as a person has it: whoever leads the terminal's session takes all others along when it ends.
        t = Terminal(["/bin/sh", "-c", '"$@"; read line', "sh", harness.peel(), "record", "-o", self.session, *self.engine, "--break", "op:cos", program, self.path("done")])
        t.expect("peel> ")
        with open("/proc/%d/task/%d/children" % (t.pid, t.pid)) as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        harness.wait_until("the program's end", lambda: os.path.exists(self.path("done")), 180)
        t.send("")
        t.wait()
        self.assert_opens()

    def test_interrupt_while_it_stands(self):
        """Ctrl-C is the program's: it goes on, and gets its KeyboardInterrupt."""
        t = self.terminal(self.script("""
            try:
                for i in range(1000):
                    torch.ones(2).cos()
            except KeyboardInterrupt:
                print("interrupted", i, flush=True)
        """), ["op:cos key:AutogradCPU hit:5"])
        t.expect("peel> ")
        os.write(t.fd, b"\x03")
        t.expect("interrupted 4", 60)
        self.assertEqual(t.wait(), 0)

    def test_without_a_terminal_it_goes_on(self):
        status, out, err = self.drive(self.loop(), ["op:addmm key:CPU"])
        self.assertEqual((status, out.count("loss")), (0, 8), err)
        self.assertEqual(len(self.stops(err)), 16)
        self.assertEqual(self.meta()["state"], "complete")

    def test_backward_thread_and_forked_child(self):
        program = self.script("""
            x = torch.ones(2, requires_grad=True)
            x.exp().sum().backward()
            pid = os.fork()
            if pid == 0:
                torch.ones(2).tanh()
                os._exit(7)
            print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)
        status, out, err = self.drive(program, ["op:tanh key:AutogradCPU", "node:ExpBackward0 kind:backward_node"], ["args", "c", "args", "c"])
        self.assertEqual((status, out), (0, "child 7\n"), err)
        self.assertEqual([s[1] for s in self.stops(err)], ["ExpBackward0", "aten::tanh"], err)

    def test_wrong_use(self):
        program = self.program("")
        for options, words in ((["--break", "keey:CPU"], ("keey", "term")), (["--break", "op:"], ("op:", "needs")), (["--break", "line:x"], ("line",)),
                               (["--break", "hit:3"], ("every hop",)), (["--break", "dtype:flaot32"], ("flaot32", "character 7")), (["--break", "op:mm shape:2,3"], ("no shape", "character 13")), (["--break", "node:", "--detail", "keys"], ("standard",)), (["--break-commands", "/nowhere"], ("--break",)),
                               (["--break", "add", "--break-commands", "/nowhere"], ("/nowhere",))):
            with self.subTest(options=options):
                status, _, err = harness.run([harness.peel(), "record", "-o", self.path("out.peel"), *self.engine, *options, program])
                self.assertEqual(status, 2)
                self.assert_one_sentence(err, *words)
        status, _, err = self.drive(self.loop(), ["op:addmm key:CPU"], ["fly", "delete 9", "b keey:x", "c x", "enable 1"])
        self.assertEqual(status, 0, err)
        for words in ("no command fly", "no breakpoint 9", "there is no term", "a number"):
            self.assertIn(words, err)

    def test_keys_only(self):
        """At --detail keys there are no recorded values, but hops stop all the same, and values can be asked for."""
        status, _, err = self.drive(self.loop(), ["op:addmm key:AutogradCPU line:train_step.py:25"], ["locals", "i", "u"], "--detail", "keys")
        self.assertEqual(status, 0, err)
        self.assertEqual([s[1:3] for s in self.stops(err)][:2], [("aten::addmm", "AutogradCPU"), ("aten::addmm", "CPU")], err)


class Stock(Both, Session):
    @property
    def engine(self):
        return ("--python", harness.python())

    VALUES = """
            torch.manual_seed(1)
            a = torch.randn(7, 5)
            a[2, 3], a[1, 1], a[0, 0] = float("nan"), float("inf"), -float("inf")
            z = torch.view_as_complex(torch.randn(3, 2))
            xs = [a, a.t(), a[1:6:2, ::3], a.double(), a.half(), a.bfloat16(), torch.arange(-5, 9).view(2, 7), torch.arange(5, dtype=torch.uint8),
                  torch.tensor([True, False, True]), torch.full((3, 4), 2.5), torch.empty(0, 3), a[3].expand(4, 5), z.imag, torch.conj(z).imag,
                  torch.tensor(7, dtype=torch.int16), torch.tensor([1, 2], dtype=torch.int8), torch.tensor([3, 4], dtype=torch.int32)]
            def number(t):
                return "%.6g" % float(t) if t.numel() else ""
            for x in xs:
                d = x.double().flatten()
                good, finite = d[~d.isnan()], d[d.isfinite()]
                print("|".join([number(good.min() if len(good) else good), number(good.max() if len(good) else good), number(finite.mean() if len(finite) else finite),
                                str(int(d.isnan().sum())), str(int(d.isinf().sum()))]), flush=True)
                torch.ops.aten.alias.default(x)
            torch.ops.aten.alias.default(torch.empty(2, device="meta"))
            torch.ops.aten.alias.default(z)
    """
    STOPS_AT = "op:alias kind:call_boxed"

    def test_change(self):
        """What happens next is the embedded engine's to change."""
        status, _, err = self.drive(self.loop(), ["op:addmm key:AutogradCPU"], ["change exclude AutogradCPU", "detach"])
        self.assertEqual(status, 0, err)
        self.assertIn("  what happens next can be changed on the embedded engine only: record with --engine embedded\n", err)
        self.assertEqual(self.one("SELECT count(*) FROM change"), 0)


class Embedded(Both, Session):
    engine = ("--engine", "embedded")
    # Without the operators and dtypes that this engine lacks: what it can't do itself, the numbers are known.
    VALUES = """
            inf, nan = float("inf"), float("nan")
            a = torch.tensor([[1.5, -2.0, nan], [inf, -inf, 0.25]])
            cases = [(a, "-inf|inf|-0.0833333|1|2"), (a.t(), "-inf|inf|-0.0833333|1|2"), (a[:, :2], "-inf|inf|-0.25|0|2"), (a[0, 1:2].expand(4, 1), "-2|-2|-2|0|0"),
                     (torch.tensor([1.0, 2.0]).double(), "1|2|1.5|0|0"), (torch.tensor([1.0, 2.5]).bfloat16(), "1|2.5|1.75|0|0"),
                     (torch.tensor([3, -4, 5]), "-4|5|1.33333|0|0"), (torch.tensor([True, False]), "0|1|0.5|0|0"), (torch.empty(0, 3), "|||0|0"),
                     (torch.full((3, 4), 2.5), "2.5|2.5|2.5|0|0")]
            for x, wanted in cases:
                print(wanted, flush=True)
                torch.neg(x) if x.dtype != torch.bool else torch.ops.aten.neg.default(x.to(torch.int64))
            torch.neg(torch.empty(2, device="meta"))
            try:
                torch.neg(torch.full((3,), 1.5, dtype=torch.complex64))
            except RuntimeError:
                pass  # the engine computes little with complex numbers, but they can be looked at
    """
    STOPS_AT = "op:neg kind:call -kind:redispatch"

    def record(self, program, path="plain.peel"):
        status, out, err = harness.run([harness.peel(), "record", "-o", self.path(path), *self.engine, program])
        self.assertEqual(status, 0, err)
        return out

    def peel(self, *arguments, status=0):
        got, out, err = harness.run([harness.peel(), *arguments])
        self.assertEqual(got, status, out + err)
        return out

    def test_exclude_the_key_it_is_at(self):
        """Pause at a hop, exclude the key it is at, go on, compare with the path that it would have taken."""
        program = os.path.join(harness.PROGRAMS, "train_step.py")
        self.record(program)
        status, out, err = self.drive(program, ["op:addmm key:AutogradCPU"], ["change exclude AutogradCPU", "change exclude AutogradCPU", "detach"])
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"\n  goes to CPU: kernel at \S+:\d+ instead of AutogradCPU\n")
        self.assertIn("  AutogradCPU is not in the set of this hop, DispatchKeySet(", err)
        hop = self.stops(err)[0][0]
        self.assertEqual(self.one("SELECT key FROM hop WHERE id = ?", hop), "CPU")
        self.assertEqual(self.one("SELECT count(*) FROM event e JOIN hop h USING (id) WHERE e.parent = ? AND h.op = 'aten::addmm'", hop), 0)
        self.assertEqual(self.rows("SELECT count(*) FROM node WHERE event = ?", hop), [(0,)])
        # What it would have been is what the unchanged program did.
        would = self.rows("SELECT c.event, c.text, d.name, s.text, k.rule, k.registered_at FROM change c JOIN dispatch_key d ON d.id = c.key JOIN keyset s ON s.id = c.keyset JOIN kernel k ON k.id = c.kernel")
        did = self.rows("SELECT e.id, 'exclude AutogradCPU', d.name, s.text, k.rule, k.registered_at FROM event e JOIN dispatch_key d ON d.id = e.key JOIN keyset s ON s.id = e.keyset "
                        "JOIN kernel k ON k.id = e.kernel WHERE e.id = ?", hop, path=self.path("plain.peel"))
        self.assertEqual(would, did)
        self.assertIn("changed by hand: exclude AutogradCPU", self.peel("show", self.session, "--event", str(hop)))
        self.assertEqual(json.loads(self.peel("show", "--json", self.session, "--from", str(hop), "--to", str(hop)))["changed"], "exclude AutogradCPU")
        why = self.peel("why", self.session, str(hop))
        self.assertIn("CPU ran: changed while it stood (exclude AutogradCPU); else AutogradCPU would have run.", why)
        self.assertIn("left out by hand while hop %d stood: exclude AutogradCPU" % hop, self.peel("why", self.session, str(hop), "--not", "AutogradCPU"))
        self.assertRegex(self.peel("info", self.session), r"key sets: ([\d,]+) of \1 explained")
        # The comparison shows the layer that is missing, and the node.
        rows = [json.loads(line) for line in self.peel("diff", "--json", self.path("plain.peel"), self.session, status=1).splitlines()]
        first = next(r for r in rows if r.get("what") or r.get("kind") not in (None, "same"))
        text = self.peel("diff", self.path("plain.peel"), self.session, status=1)
        self.assertIn("addmm", text)
        self.assertIn("AutogradCPU", text)
        self.assertIn("AddmmBackward0", text)
        self.assertTrue(first)

    def test_the_other_changes(self):
        program = self.script("""
            w = torch.ones(2, 2, requires_grad=True)
            x = torch.full((2, 2), 3.0)
            print("mul", (x * w).tolist(), flush=True)
            print("neg", x.neg().tolist())
            print("trace", x.trace().item())  # has no kernel that tells its shape
            print("add_", x.add_(1).tolist())
            print("item", torch.full((), 16.0).item())
            print("exp", x.exp().tolist())
        """)
        plain = self.record(program)
        self.assertEqual(plain.splitlines()[:5], ["mul [[3.0, 3.0], [3.0, 3.0]]", "neg [[-3.0, -3.0], [-3.0, -3.0]]", "trace 6.0", "add_ [[4.0, 4.0], [4.0, 4.0]]", "item 16.0"])
        at = ["op:mul.Tensor key:AutogradCPU kind:call", "op:neg key:AutogradCPU", "op:trace key:AutogradCPU", "op:add_.Tensor key:AutogradCPU", "op:item hit:2", "op:exp key:AutogradCPU"]
        status, out, err = self.drive(program, at, [
            "change kernel Meta", "change kernel CompositeImplicitAutograd", "change kernel CPU", "c",
            "change return self", "c",
            "change return full 7.5 like self", "change undo", "change return full 2", "i", "u", "change exclude CPU", "change return full 2", "c",
            "change return zeros", "change return self", "c",
            "change return 41.5", "c",
            "change fallthrough", "change return full 0.5", "c"])
        self.assertEqual(status, 0, err)
        self.assertEqual(out.splitlines()[:6], ["mul [[3.0, 3.0], [3.0, 3.0]]", "neg [[3.0, 3.0], [3.0, 3.0]]", "trace 2.0", "add_ [[3.0, 3.0], [3.0, 3.0]]", "item 41.5", "exp [[0.5, 0.5], [0.5, 0.5]]"], err)
        for words in ("it goes on as it would have", "what aten::trace returns is not known before it ran", "no kernel runs: it returns full 0.5", "returns the tensor that it was given to write: return self leaves it unwritten", "no kernel runs: it returns 41.5",
                      "aten::mul.Tensor has no kernel registered at CompositeImplicitAutograd", "runs the kernel at ", "the kernel has run already: only its result can be changed", "returns full 2 instead of its result"):
            self.assertIn(words, err)
        told = self.rows("SELECT h.op, c.text, h.key, k.rule FROM change c JOIN hop h ON h.id = c.event LEFT JOIN event e ON e.id = c.event LEFT JOIN kernel k ON k.id = e.kernel ORDER BY c.rowid")
        self.assertEqual([t[:2] for t in told], [("aten::mul.Tensor", "kernel Meta; kernel CPU"), ("aten::neg", "return self"), ("aten::trace", "return full 2"), ("aten::add_.Tensor", "return self"),
                                                 ("aten::item", "return 41.5"), ("aten::exp", "fallthrough; return full 0.5")])
        self.assertEqual([t[3] == "by hand" for t in told], [False, True, False, True, True, True])
        # The results that are recorded are those that were returned.
        total, inner = self.one("SELECT event FROM change WHERE text = 'return full 2'"), "SELECT r.tensor FROM result r JOIN event e ON e.id = r.event WHERE e.parent = ?"
        now = self.rows("SELECT tensor FROM result WHERE event = ?", total)
        self.assertEqual(len(now), 1)
        self.assertNotIn(now[0], self.rows(inner, total))
        self.assertEqual(self.one("SELECT count(*) FROM loss WHERE name = 'duplicate rows'"), 0)

    def test_keys_of_the_thread(self):
        """Held until cleared, also under guards, and only in this thread."""
        program = self.script("""
            import threading
            w = torch.ones(2, requires_grad=True)
            def work():
                print("worker", (w * 2).requires_grad)
            print("one", (w * 2).requires_grad)
            print("two", (w * 3).requires_grad)
            t = threading.Thread(target=work); t.start(); t.join()
            w.detach()
            print("three", (w * 4).requires_grad)
        """)
        status, out, err = self.drive(program, ["op:mul.Tensor key:AutogradCPU", "op:detach kind:call"], ["change thread exclude AutogradCPU", "change thread exclude AutogradCPU", "c", "c", "change thread clear", "change thread clear", "c"])
        self.assertEqual((status, out), (0, "one True\ntwo False\nworker True\nthree True\n"), err)
        self.assertIn("from its next call on AutogradCPU is excluded in this thread, until `thread clear`", err)
        self.assertIn("AutogradCPU is excluded already", err)
        self.assertRegex(self.peel("info", self.session), r"key sets: ([\d,]+) of \1 explained")

    def test_a_missing_kernel_can_be_helped(self):
        program = self.script("""
            lib = torch.library.Library("mine", "DEF")
            lib.define("f(Tensor x) -> Tensor")
            lib.impl("f", lambda x: x * 2, "CPU")
            x = torch.ones(2, device="meta")
            print(tuple(torch.ops.mine.f(x).shape))
        """)
        status, out, err = self.drive(program, ["op:mine::f kind:missing_kernel"], ["change kernel Meta", "change exclude Meta", "change include CPU", "change return x", "c"])
        self.assertEqual((status, out), (0, "(2,)\n"), err)
        self.assertIn("mine::f: attempted to run this operator with Meta tensors", err)
        self.assertEqual(self.rows("SELECT h.kind, c.kind FROM change c JOIN hop h ON h.id = c.event"), [("redispatch_boxed", 4)])
        self.assertIn("else the look-up would have raised", self.peel("why", self.session, str(self.one("SELECT event FROM change"))))

    def test_wrong_changes(self):
        status, _, err = self.drive(self.loop(), ["op:addmm key:AutogradCPU", "kind:backward_node"], [
            "change", "change fly", "change exclude", "change exclude Nokey", "change exclude Autograd", "change include CPU", "change include BackendSelect", "change kernel CUDA",
            "change return", "change return 3", "change return nothing", "change return None", "change return self, self", "change return zeros like", "change return full x", "change undo", "change thread", "change thread fly CPU",
            "c 3", "change exclude CPU", "detach"])
        self.assertEqual(status, 0, err)
        for words in ("there is no change `fly`", "which key?", "there is no dispatch key Nokey", "Autograd is an alias", "CPU is in the set of this hop already", "falls through for aten::addmm: nothing would change",
                      "return what?", "aten::addmm returns a tensor there: full 3 makes one", "nothing is no value: give an argument (self, mat1, mat2, beta, alpha)", "a result of type Tensor can't be None", "more were given",
                      "full wants a number", "nothing was changed at this stop", "thread exclude KEY, thread include KEY, or thread clear", "here a node of the graph runs, which is no call"):
            self.assertIn(words, err)
        self.assertEqual(self.one("SELECT count(*) FROM change"), 0)


if __name__ == "__main__":
    main()
