"""The disk fills up while a program is recorded: the program goes on to its end, the file opens, and one sentence says why it is short."""
import os
import shutil
import subprocess

from support import IMPORT, Case, harness, main


def setUpModule():
    harness.need()


class Disk(Case):
    def test_full(self):
        """A small file system of its own, in a mount namespace of its own."""
        if not shutil.which("unshare"):
            self.skipTest("there is no unshare")
        small = self.path("small")
        os.mkdir(small)
        probe = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=1m", "none", small], capture_output=True)
        if probe.returncode:
            self.skipTest("may not mount here: " + probe.stderr.decode().strip())
        program = self.program(IMPORT + "x = torch.zeros(2)\nfor _ in range(60000): x.add_(1)\nprint('end', x[0].item())")
        kept = self.path("kept.peel")
        script = 'mount -t tmpfs -o size=1m none "$1" && shift && "$@"; status=$?; cp "%s/out.peel" "%s"; cp "%s"/out.peel-wal "%s-wal" 2>/dev/null; exit $status' % (
            small, kept, small, kept)
        status, out, err = harness.run(["unshare", "-rm", "sh", "-c", script, "sh", small, harness.peel(), "record", "-o", small + "/out.peel", "--python",
                                        harness.python(), program])
        self.assertEqual((status, out), (0, "end 60000.0\n"), err)
        self.assert_says(err, "full")
        self.session = kept
        self.assert_opens("truncated")

    def test_size_limit_of_files(self):
        """RLIMIT_FSIZE holds for the program too; SIGXFSZ must not kill anything."""
        program = self.program(IMPORT + "x = torch.zeros(2)\nfor _ in range(60000): x.add_(1)\nprint('end', x[0].item())")
        self.session = self.path("out.peel")
        script = 'ulimit -f 2048; exec "$@"'  # blocks of 512 bytes (dash) or 1024 (bash)
        status, out, err = harness.run(["sh", "-c", script, "sh", harness.peel(), "record", "-o", self.session, "--python", harness.python(), program])
        self.assertEqual((status, out), (0, "end 60000.0\n"), err)
        if os.path.exists(self.session):
            self.assert_opens()

    def test_max_size(self):
        program = self.program(IMPORT + "x = torch.zeros(2)\nfor _ in range(60000): x.add_(1)\nprint('end', x[0].item())")
        self.session = self.path("out.peel")
        status, out, err = harness.record(self.session, [program], ["--max-size", "1M"])
        self.assertEqual((status, out), (0, "end 60000.0\n"), err)
        self.assertEqual(self.meta()["state"], "truncated")
        self.assertLess(os.path.getsize(self.session), 3 << 20)
        self.assert_opens("truncated")


if __name__ == "__main__":
    main()
