"""How a program can end by itself: each end is the same as without Peel, and the session says it."""
import os
import signal
import subprocess

from support import IMPORT, Case, harness, main


def setUpModule():
    harness.need()


class Ends(Case):
    def same(self, text, *arguments, status, input=None):
        """Runs alone and recorded: same status, output and errors. Returns the recorded (status, stdout, stderr)."""
        program = self.program(text)
        alone = harness.run([harness.python(), program, *arguments], input=input)
        recorded = self.record(program, *arguments, input=input)
        self.assertEqual(alone[0], status)
        own = "".join(line for line in recorded[2].splitlines(True) if not line.startswith("peel: "))
        self.assertEqual((recorded[0] - 256 if recorded[0] > 255 else recorded[0], recorded[1], own), alone)
        self.assert_no_own_traceback(recorded[2])
        return recorded

    def ended(self, state, code):
        meta = self.meta()
        self.assertEqual((meta["state"], meta["exit_code"]), (state, str(code)))

    def test_done(self):
        self.same(IMPORT + "print(torch.ones(2).add(1).tolist())", status=0)
        self.ended("complete", 0)
        self.assert_opens("complete")

    def test_arguments_and_output_streams(self):
        self.same(IMPORT + "print(sys.argv[1:], __name__, len(sys.path[0]))\nprint('to stderr', file=sys.stderr)\nsys.stdout.write('no newline')", "a b", "--json", "-o",
                  "", status=0)
        self.assertEqual([tuple(r) for r in self.rows("SELECT stream, group_concat(text, '') FROM output GROUP BY stream ORDER BY stream")],
                         [(1, "['a b', '--json', '-o', ''] __main__ %d\nno newline" % len(self.folder)), (2, "to stderr\n")])

    def test_exit_status(self):
        self.same(IMPORT + "torch.ones(2)\nsys.exit(3)", status=3)
        self.ended("complete", 3)

    def test_exit_message(self):
        self.same(IMPORT + "torch.ones(2)\nsys.exit('a reason')", status=1)

    def test_os_exit(self):
        """No destructor runs; what was recorded is there."""
        self.same(IMPORT + "for _ in range(100): torch.ones(2)\nsys.stdout.flush()\nos._exit(5)", status=5)
        self.assertEqual(self.meta()["exit_code"], "5")
        self.assertEqual(self.one("SELECT count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%' AND end_ns IS NOT NULL"), 100)

    def test_syntax_error(self):
        _, _, err = self.same("import torch\nx = (\n", status=1)
        self.assertEqual(err.count("SyntaxError"), 1)
        self.assert_says(err, "did not get to import torch")

    def test_no_import_of_torch(self):
        _, _, err = self.same("print('hello')", status=0)
        self.assert_says(err, "did not get to import torch")

    def test_uncaught_exception(self):
        _, _, err = self.same(IMPORT + "torch.ones(2).view(3)", status=1)
        self.assertEqual(err.count("RuntimeError: shape '[3]' is invalid"), 1)
        self.ended("complete", 1)
        rows = self.rows("SELECT h.op, x.type, x.message FROM error x JOIN hop h ON h.id = x.event ORDER BY h.id")
        self.assertIn("aten::view", {r[0] for r in rows})
        self.assertTrue(all(r[1] == "RuntimeError" and "shape '[3]' is invalid for input of size 2" in r[2] for r in rows), rows)

    def test_throwing_python_kernel(self):
        self.same(IMPORT + """
lib = torch.library.Library("peel_faults", "DEF")
lib.define("f(Tensor x) -> Tensor")
def kernel(x):
    raise LookupError("from the kernel")
lib.impl("f", kernel, "CPU")
try:
    torch.ops.peel_faults.f(torch.ones(1))
except LookupError as e:
    print("caught", e)
""", status=0)
        self.assertEqual([r[0] for r in self.rows("SELECT DISTINCT h.op FROM error x JOIN hop h ON h.id = x.event")], ["peel_faults::f"])

    def test_missing_kernel(self):
        _, _, err = self.same(IMPORT + """
lib = torch.library.Library("peel_faults", "DEF")
lib.define("nowhere(Tensor x) -> Tensor")
torch.ops.peel_faults.nowhere(torch.ones(1))
""", status=1)
        self.assertIn("Could not run 'peel_faults::nowhere'", err)
        self.assertEqual([r[0] for r in self.rows("SELECT op FROM hop WHERE kind = 'missing_kernel'")], ["peel_faults::nowhere"])

    def test_stdin(self):
        _, out, _ = self.same(IMPORT + "for line in sys.stdin: print(torch.tensor(float(line)).mul(2).item())", status=0, input="1\n2.5\n")
        self.assertEqual(out, "2.0\n5.0\n")

    def test_module(self):
        self.program(IMPORT + "print(__name__, torch.ones(1).item(), sys.argv[1:])", "peel_faults_module.py")
        self.session = self.path("out.peel")
        status, out, err = harness.record(self.session, ["-m", "peel_faults_module", "x"], cwd=self.folder)
        self.assertEqual((status, out), (0, "__main__ 1.0 ['x']\n"), err)
        self.assertGreater(self.one("SELECT count(*) FROM event"), 0)

    def test_all_descriptors_closed(self):
        """Daemons do that. Recording may go on or stop; the program must not notice."""
        self.same(IMPORT + "torch.ones(1)\nos.closerange(3, 256)\nfor _ in range(100): torch.ones(1)\nprint('done')", status=0)
        self.assert_opens()
        seen = self.one("SELECT count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%'")
        self.assertTrue(seen == 101 or self.one("SELECT coalesce(sum(count), 0) FROM loss") > 0, "%d of 101 calls, and no loss is told" % seen)

    def test_environment_is_the_programs_own(self):
        self.same(IMPORT + "import json\nhide = ('PEEL_', 'PYTHONPATH')\n"
                  "print(json.dumps({k: v for k, v in os.environ.items() if not k.startswith(hide) and k not in ('_', 'SHLVL', 'LD_PRELOAD')}, sort_keys=True))", status=0)

    def test_killed_by_a_signal(self):
        program = self.program(IMPORT + "for _ in range(10): torch.ones(1)\nos.kill(os.getpid(), 15)\ntime.sleep(60)")
        status, _, err = self.record(program)
        self.assertEqual(status, 128 + signal.SIGTERM, err)
        self.assertEqual(self.one("SELECT count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%' AND end_ns IS NOT NULL"), 10)

    def test_segmentation_fault(self):
        program = self.program(IMPORT + "import ctypes\nfor _ in range(10): torch.ones(1)\nctypes.string_at(0)")
        status, _, err = self.record(program)
        self.assertEqual(status, 128 + signal.SIGSEGV, err)
        self.assertEqual(self.meta()["state"], "crashed")
        self.assertEqual(self.one("SELECT count(*) FROM hop WHERE op = 'aten::ones' AND kind LIKE 'call%' AND end_ns IS NOT NULL"), 10)
        self.assert_opens("crashed")

    def test_ctrl_c(self):
        """SIGINT to the whole group, as a terminal sends it: Python's KeyboardInterrupt, then a finished session."""
        program = self.program(IMPORT + "try:\n  print('ready', flush=True)\n  while True: torch.ones(1).add_(1)\nexcept KeyboardInterrupt:\n  print('interrupted')\n  sys.exit(130)")
        self.session = self.path("out.peel")
        p = subprocess.Popen([harness.peel(), "record", "-o", self.session, "--python", harness.python(), program], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=harness.environment(), start_new_session=True)
        self.assertEqual(p.stdout.readline(), "ready\n")
        os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, out), (130, "interrupted\n"), err)
        self.assertNotIn("Traceback", err)
        self.ended("complete", 130)


if __name__ == "__main__":
    main()
