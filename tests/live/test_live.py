"""Breakpoints, steps and questions on stock PyTorch: what is told where the program stands is held against PyTorch itself."""
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


class Live(Case):
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
        return harness.record(self.session, [program], [*more, *options], **kw)

    def terminal(self, program, breaks):
        self.session = self.path("out.peel")
        return Terminal([harness.peel(), "record", "-o", self.session, "--python", harness.python(), *[o for b in breaks for o in ("--break", b)], program])

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
        plain = harness.run([harness.python(), self.loop()])
        status, out, err = self.drive(self.loop(), ["key:AutogradCPU"], ["i", "o", "args", "locals", "threads"] * 20)
        self.assertEqual((status, out), (0, plain[1]), err)

    def test_values(self):
        """Statistics equal PyTorch's own, for every dtype that is read and for strided, negated, conjugated and empty tensors."""
        program = self.script("""
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
        """)
        status, out, err = self.drive(program, ["op:alias kind:call_boxed"], ["c"] * 40)
        self.assertEqual(status, 0, err)
        told = re.findall(r"^hop .*aten::alias .*\n.*\n  self +t\d+ (\S+) *(.*)$", err, re.M)
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
        t = Terminal(["/bin/sh", "-c", '"$@"; read line', "sh", harness.peel(), "record", "-o", self.session, "--python", harness.python(), "--break", "op:cos", program, self.path("done")])
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
                status, _, err = harness.record(self.path("out.peel"), [program], options)
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


if __name__ == "__main__":
    main()
