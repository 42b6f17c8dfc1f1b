"""What may be missing before a program can be recorded: each is one clear sentence with what to do, and status 2."""
import os
import sys

from support import IMPORT, Case, harness, main


class Setup(Case):
    def empty_cache(self, **more):
        return harness.environment(XDG_CACHE_HOME=self.path("cache"), HOME=self.folder, **more)

    def test_no_compiler(self):
        harness.need()
        tools = self.path("bin")
        os.mkdir(tools)
        env = self.empty_cache(PATH=tools)
        env.pop("CXX", None)
        status, out, err = self.record(self.program(IMPORT + "print('ran')"), env=env)
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "compiler")
        self.assertFalse(os.path.exists(self.session))

    def test_no_pytorch(self):
        bare = self.path("bare")
        status, _, err = harness.run([sys.executable, "-m", "venv", "--without-pip", bare])
        if status:
            self.skipTest("cannot make a virtual environment: " + err)
        status, out, err = harness.run([harness.peel(), "record", "--engine", "pytorch", "-o", self.path("out.peel"), "--python", bare + "/bin/python", self.program("import torch")],
                                       env=self.empty_cache())
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "torch", bare)
        self.assertFalse(os.path.exists(self.path("out.peel")))

    def test_unknown_version(self):
        package = self.path("old/torch")
        os.makedirs(package)
        with open(package + "/__init__.py", "w") as f:
            f.write("from .version import __version__\n")
        with open(package + "/version.py", "w") as f:
            f.write("__version__ = '1.9.0'\ngit_version = 'abc'\ncuda = None\n")
        env = self.empty_cache(PYTHONPATH=self.path("old"))
        status, out, err = harness.run([harness.peel(), "record", "-o", self.path("out.peel"), "--python", harness.python(), self.program("import torch")], env=env)
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "1.9.0")
        self.assertFalse(os.path.exists(self.path("out.peel")))

    def test_no_such_program(self):
        harness.need()
        status, out, err = self.record(self.path("missing.py"))
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "missing.py")
        self.assertFalse(os.path.exists(self.session))

    def test_no_such_python(self):
        status, out, err = harness.run([harness.peel(), "record", "-o", self.path("out.peel"), "--python", self.path("nopython"), self.program("")])
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "nopython")

    def test_session_cannot_be_made(self):
        harness.need()
        status, out, err = harness.record(self.path("no/such/folder/out.peel"), [self.program(IMPORT + "print('ran')")])
        self.assertEqual((status, out), (2, ""))
        self.assert_one_sentence(err, "out.peel")

    def test_wrong_usage(self):
        for arguments in (["record"], ["show"], ["nonsense"], ["record", "--detail", "everything", "x.py"]):
            with self.subTest(arguments):
                status, out, err = harness.run([harness.peel(), *arguments])
                self.assertEqual((status, out), (2, ""))
                self.assertLessEqual(len(err.splitlines()), 3, err)

    def test_home_cannot_be_written(self):
        """The cache falls back; a recording still works."""
        harness.need()
        if os.environ.get("PEEL_TEST_LONG") != "1":
            self.skipTest("builds an agent: set PEEL_TEST_LONG=1")
        env = dict(self.empty_cache(), XDG_CACHE_HOME="/proc/nowhere", HOME="/proc/nowhere", TMPDIR=self.folder)
        status, out, err = self.record(self.program(IMPORT + "print('ran')"), env=env, timeout=900)
        self.assertEqual((status, out), (0, "ran\n"), err)


if __name__ == "__main__":
    main()
