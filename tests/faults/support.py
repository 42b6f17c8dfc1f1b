"""What the fault tests share: a case with a folder of its own, short programs as text, and reading a session by plain SQL."""
import os
import shutil
import sqlite3
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

IMPORT = "import sys, os, time, torch\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="peel-faults-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, text, name="program.py"):
        with open(self.path(name), "w") as f:
            f.write(textwrap.dedent(text))
        return self.path(name)

    def record(self, program, *arguments, **kw):
        """(status, stdout, stderr) of recording into self.session."""
        self.session = self.path("out.peel")
        return harness.record(self.session, [program, *arguments], **kw)

    def meta(self, path=None):
        return dict(self.rows("SELECT key, value FROM meta", path=path))

    def rows(self, sql, *arguments, path=None):
        db = sqlite3.connect("file:%s?mode=ro" % (path or self.session), uri=True)
        try:
            return db.execute(sql, arguments).fetchall()
        finally:
            db.close()

    def one(self, sql, *arguments):
        return self.rows(sql, *arguments)[0][0]

    def said(self, stderr):
        """What Peel itself said on standard error."""
        return [line for line in stderr.splitlines() if line.startswith("peel: ")]

    def assert_opens(self, *words):
        """info, show and why read the session; info's text has the words."""
        status, out, err = harness.run([harness.peel(), "info", self.session])
        self.assertEqual(status, 0, err)
        for word in words:
            self.assertIn(word, out)
        status, _, err = harness.run([harness.peel(), "show", "--json", self.session])
        self.assertEqual(status, 0, err)

    def assert_one_sentence(self, stderr, *words):
        """Exactly one line from Peel that has the words, and no other line at all."""
        lines = stderr.splitlines()
        self.assertEqual(len(lines), 1, stderr)
        self.assert_says(stderr, *words)

    def assert_says(self, stderr, *words):
        """Exactly one of Peel's lines has all of the words."""
        has = [line for line in self.said(stderr) if all(w.lower() in line.lower() for w in words)]
        self.assertEqual(len(has), 1, "%r in\n%s" % (words, stderr))
        self.assertGreater(len(has[0].split()), 4, "a sentence: " + has[0])

    def assert_no_own_traceback(self, stderr):
        self.assertNotIn("sitecustomize", stderr)
        self.assertNotIn("peel_agent", stderr)


def main():
    unittest.main(verbosity=2)
