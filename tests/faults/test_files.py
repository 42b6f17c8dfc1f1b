"""Files that are no sessions, or not any more: one sentence that names the file, status 2, never a crash. Needs no PyTorch."""
import os
import random
import sqlite3

from support import Case, harness, main

SCHEMA = os.path.join(harness.ROOT, "sessions", "schema.sql")
COMMANDS = (["info"], ["diff", "{}", "{}"], ["show"], ["show", "--json"], ["why", "{}", "1"], ["query", "{}", "SELECT count(*) FROM event"])


def setUpModule():
    harness.need(torch=False)


class Files(Case):
    def make(self, name="good.peel", version=1, application=0x5065656C, hops=50):
        """A small session made by the schema alone."""
        path = self.path(name)
        db = sqlite3.connect(path)
        with open(SCHEMA) as f:
            db.executescript(f.read())
        db.execute("PRAGMA application_id = %d" % application)
        db.execute("PRAGMA user_version = %d" % version)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("format", "1"), ("engine", "pytorch"), ("engine_version", "2.13.0"), ("state", "complete"),
                                                          ("exit_code", "0"), ("started_unix_ns", "1"), ("program", "p.py"), ("argv", '["p.py"]')])
        db.executemany("INSERT INTO event_kind VALUES (?, ?)", enumerate(
            ("call", "redispatch", "call_boxed", "redispatch_boxed", "missing_kernel", "python_mode", "torch_function", "backward_node")))
        db.execute("INSERT INTO dispatch_key VALUES (49, 'CPU', 16, 0, 1)")
        db.execute("INSERT INTO keyset VALUES (1, 65537, 'DispatchKeySet(CPU)')")
        db.execute("INSERT INTO op VALUES (1, 'aten::exp', '', 'aten::exp(Tensor self) -> Tensor')")
        db.execute("INSERT INTO process VALUES (1, 1, NULL, 'p.py', 0, NULL)")
        db.execute("INSERT INTO thread VALUES (1, 1, 1, 'main')")
        db.execute("INSERT INTO tls VALUES (1, 0, 0, 1, 0, NULL)")
        for i in range(1, hops + 1):
            db.execute("INSERT INTO event VALUES (?, NULL, 1, 1, 0, 49, 1, 1, 1, NULL, NULL, ?, ?, 0)", (i, 10 * i, 10 * i + 5))
        db.commit()
        db.close()
        return path

    def refuse(self, path, *words, commands=COMMANDS):
        for command in commands:
            with self.subTest(os.path.basename(path), command=command[0]):
                arguments = [a.format(path) for a in command] if "{}" in command else [*command, path]
                status, out, err = harness.run([harness.peel(), *arguments])
                self.assertEqual(status, 2, (out, err))
                self.assert_one_sentence(err, os.path.basename(path), *words)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def test_good(self):
        path = self.make()
        for command in COMMANDS:
            arguments = [a.format(path) for a in command] if "{}" in command else [*command, path]
            status, out, err = harness.run([harness.peel(), *arguments])
            self.assertEqual(status, 0, (command, out, err))
            self.assertTrue(out)

    def test_missing_file(self):
        self.refuse(self.path("nowhere.peel"))

    def test_folder(self):
        os.mkdir(self.path("folder.peel"))
        self.refuse(self.path("folder.peel"))

    def test_empty(self):
        self.refuse(self.write("empty.peel", b""))

    def test_text(self):
        self.refuse(self.write("text.peel", b"hello\n" * 1000), "not a")

    def test_other_database(self):
        self.refuse(self.make("other.peel", application=0x12345678), "not a")

    def test_newer_format(self):
        self.refuse(self.make("newer.peel", version=99), "99")

    def test_missing_table(self):
        path = self.make("table.peel")
        db = sqlite3.connect(path)
        db.executescript("DROP TABLE event; DROP TABLE op;")
        db.close()
        self.refuse(path, commands=(["info"], ["show"]))

    def test_pipe_is_not_waited_for(self):
        os.mkfifo(self.path("pipe.peel"))
        self.refuse(self.path("pipe.peel"), commands=(["info"],))

    def survives(self, path):
        """Status 0 or 2 with few words: no crash, no hang."""
        for command in (["show", "--json"], ["info"], ["why", "{}", "3"]):
            arguments = [a.format(path) for a in command] if "{}" in command else [*command, path]
            status, out, err = harness.run([harness.peel(), *arguments], timeout=60)
            self.assertIn(status, (0, 1, 2), (command, err[-500:]))
            self.assertLessEqual(len(err.splitlines()), 3, err[-500:])

    def test_truncated_at_every_size(self):
        with open(self.make(), "rb") as f:
            data = f.read()
        for size in sorted({1, 15, 16, 99, 100, 512, *range(1024, len(data), 12289), len(data) - 1}):
            with self.subTest(size=size):
                self.survives(self.write("cut.peel", data[:size]))

    def test_flipped_bytes(self):
        with open(self.make(), "rb") as f:
            data = f.read()
        chance = random.Random(1)
        for _ in range(25):
            broken = bytearray(data)
            for _ in range(20):
                broken[chance.randrange(100, len(data))] = chance.randrange(256)
            self.survives(self.write("flipped.peel", bytes(broken)))

    def test_hostile_rows(self):
        """Valid SQLite, impossible content."""
        for what, sql in {
            "parent after child": "UPDATE event SET parent = 40 WHERE id = 3",
            "own parent": "UPDATE event SET parent = 3 WHERE id = 3",
            "cyclic parents": "UPDATE event SET parent = 4 WHERE id = 3; UPDATE event SET parent = 3 WHERE id = 4",
            "huge id": "INSERT INTO event VALUES (9000000000000000000, NULL, 1, 1, 0, 49, 1, 1, 1, NULL, NULL, 1, 2, 0)",
            "negative id": "INSERT INTO event VALUES (-5, NULL, 1, 1, 0, 49, 1, 1, 1, NULL, NULL, 1, 2, 0)",
            "unknown ids": "UPDATE event SET op = 777777, key = 99999, keyset = -3, tls = 1e30, thread = 55, kernel = 4000000000 WHERE id = 3",
            "texts": "UPDATE event SET op = 'x', begin_ns = 'now', flags = x'00ff' WHERE id = 3",
            "ends before it begins": "UPDATE event SET end_ns = -1 WHERE id = 3",
            "unknown kind": "UPDATE event SET kind = 200 WHERE id = 3",
            "bits out of range": "UPDATE dispatch_key SET functionality_bit = 900, backend_bit = -70, slot = 100000",
            "cyclic stack": "INSERT INTO stack VALUES (1, 2, 1, 1, 1), (2, 1, 1, 1, 1); UPDATE event SET stack = 1 WHERE id = 3",
            "cyclic span": "INSERT INTO span (id, kind, name, parent, begin_event, end_event) VALUES (1, 'module', 'a', 2, 1, 9), (2, 'module', 'b', 1, 1, 9)",
            "edge to nowhere": "INSERT INTO node (id, event, name, sequence_nr) VALUES (1, 3, 1, 0); INSERT INTO edge VALUES (1, 0, 500, 0), (1, 2000000000, 1, 0)",
            "no keys": "DELETE FROM dispatch_key",
            "view in place of a table": "DROP TABLE op; CREATE VIEW op AS SELECT id, 'x' AS name, 'y' AS overload, 'z' AS schema FROM event",
            "endless view": "DROP TABLE string; CREATE VIEW string AS WITH RECURSIVE c(id) AS (VALUES(1) UNION ALL SELECT id + 1 FROM c) SELECT id, 'x' AS value FROM c",
        }.items():
            with self.subTest(what):
                path = self.make("hostile.peel")
                db = sqlite3.connect(path)
                db.executescript(sql)
                db.close()
                self.survives(path)
                os.remove(path)

    def test_query_cannot_write(self):
        path = self.make()
        with open(path, "rb") as f:
            before = f.read()
        other = self.path("made.db")
        for sql in ("DELETE FROM event", "CREATE TABLE x (y)", "ATTACH '%s' AS o" % other, "PRAGMA user_version = 5", "VACUUM INTO '%s'" % other,
                    "SELECT load_extension('x')", "SELECT 1; DELETE FROM event", "not sql", ""):
            with self.subTest(sql):
                status, out, err = harness.run([harness.peel(), "query", path, sql])
                self.assertEqual(status, 2, (out, err))
                self.assertEqual(len(err.splitlines()), 1, err)
        with open(path, "rb") as f:
            self.assertEqual(before, f.read())
        self.assertFalse(os.path.exists(other))

    def test_read_only_place(self):
        path = self.make()
        os.chmod(path, 0o400)
        os.chmod(self.folder, 0o500)
        try:
            status, out, err = harness.run([harness.peel(), "show", path])
            self.assertEqual(status, 0, err)
            self.assertEqual(sorted(os.listdir(self.folder)), ["good.peel"])
        finally:
            os.chmod(self.folder, 0o700)


if __name__ == "__main__":
    main()
