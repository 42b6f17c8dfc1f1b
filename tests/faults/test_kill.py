"""SIGKILL of the program and of peel, in the middle of a long loop. What was finished is in the file; what was not killed goes on."""
import mmap
import os
import signal
import struct
import subprocess
import threading

from support import IMPORT, Case, harness, main

# Counts every operator call after it has returned, in a shared page, so that the count survives a SIGKILL.
LOOP = IMPORT + """
import mmap, struct
f = open(sys.argv[1], "r+b")
page = mmap.mmap(f.fileno(), 4096)
x = torch.zeros(2)
seconds = float(sys.argv[2])
end = time.monotonic() + seconds
n = 0
while time.monotonic() < end:
    x.add_(1)
    n += 1
    struct.pack_into("Q", page, 0, n)
print("finished", n)
"""


def setUpModule():
    harness.need()


class Kill(Case):
    def start(self, seconds):
        self.counter = self.path("counter")
        with open(self.counter, "wb") as f:
            f.write(bytes(4096))
        self.session = self.path("out.peel")
        return subprocess.Popen([harness.peel(), "record", "-o", self.session, "--python", harness.python(), self.program(LOOP), self.counter, str(seconds)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=harness.environment())

    def count(self):
        with open(self.counter, "rb") as f:
            page = mmap.mmap(f.fileno(), 4096, access=mmap.ACCESS_READ)
            return struct.unpack_from("Q", page)[0]

    def finished_calls(self):
        return self.one("SELECT count(*) FROM hop WHERE op = 'aten::add_.Tensor' AND kind LIKE 'call%' AND end_ns IS NOT NULL")

    def pid_of_program(self):
        return self.one("SELECT os_id FROM process ORDER BY id LIMIT 1")

    def program_pid(self, parent):
        """The process that runs the loop: the one below peel that has the counter mapped."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/maps" % pid) as f:
                    if self.counter in f.read():
                        return int(pid)
            except OSError:
                pass
        return None

    def test_kill_the_program(self):
        for after in (1, 1000, 100000):
            with self.subTest(after=after):
                p = self.start(600)
                harness.wait_until("%d calls" % after, lambda: self.count() >= after, 120)
                os.kill(self.program_pid(p.pid), signal.SIGKILL)
                out, err = p.communicate(timeout=120)
                counted = self.count()
                self.assertEqual((p.returncode, out), (128 + signal.SIGKILL, ""), err)
                self.assert_says(err, "killed")
                self.assertEqual(self.meta()["state"], "crashed")
                self.assert_opens("crashed")
                calls = self.finished_calls()
                self.assertGreaterEqual(calls, counted)
                self.assertLessEqual(calls, counted + 1)  # returned, but not counted yet
                self.assertLessEqual(self.one("SELECT count(*) FROM event WHERE end_ns IS NULL"), 8)

    def test_kill_peel(self):
        p = self.start(6)
        harness.wait_until("20000 calls", lambda: self.count() >= 20000, 120)
        harness.wait_until("rows in the file", lambda: os.path.getsize(self.session) > 100000)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(p.stdout))
        reader.start()
        program = self.program_pid(p.pid)
        before = self.count()
        os.kill(p.pid, signal.SIGKILL)
        p.wait()
        harness.wait_until("the program's own end", lambda: not os.path.exists("/proc/%d" % program), 60)
        reader.join(30)
        self.assertGreater(self.count(), before)
        self.assertEqual(lines, ["finished %d\n" % self.count()])
        self.assert_opens()
        self.assertGreater(self.one("SELECT count(*) FROM event"), 0)
        status, out, _ = harness.run([harness.peel(), "info", self.session])
        self.assertEqual(status, 0)
        self.assertIn("peel", out.lower())
        # What a reader needs to know: the recording stopped before the program did.
        self.assertNotIn("complete", out)

    def test_terminate_peel(self):
        """SIGTERM to peel alone: it passes it on or ends; either way a readable file is left and nothing keeps running."""
        p = self.start(600)
        harness.wait_until("1000 calls", lambda: self.count() >= 1000, 120)
        program = self.program_pid(p.pid)
        p.terminate()
        p.communicate(timeout=60)
        harness.wait_until("the program's end", lambda: not os.path.exists("/proc/%d" % program), 30)
        self.assert_opens()


if __name__ == "__main__":
    main()
