"""peel diff as a command: exit statuses, text, JSON, spans; on files made by the schema alone and on recordings of one program with and without a flag."""
import json
import os
import sqlite3
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "faults"))
from support import Case, harness, main  # noqa: E402

SCHEMA = os.path.join(harness.ROOT, "sessions", "schema.sql")


def diff(*arguments):
    return harness.run([harness.peel(), "diff", *arguments])


def objects(out):
    return [json.loads(line) for line in out.splitlines()]


class Made(Case):
    def make(self, name, calls):
        """Top-level calls of `aten::LETTER` on a line of their own."""
        path = self.path(name)
        db = sqlite3.connect(path)
        with open(SCHEMA) as f:
            db.executescript(f.read())
        db.execute("PRAGMA application_id = %d" % 0x5065656C)
        db.execute("PRAGMA user_version = 1")
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("format", "1"), ("engine", "pytorch"), ("engine_version", "2.13.0"), ("state", "complete")])
        db.execute("INSERT INTO dispatch_key VALUES (49, 'CPU', 16, 0, 1)")
        db.execute("INSERT INTO keyset VALUES (1, 65537, 'DispatchKeySet(CPU)')")
        db.execute("INSERT INTO process VALUES (1, 1, NULL, 'p.py', 0, NULL)")
        db.execute("INSERT INTO thread VALUES (1, 1, 1, 'main')")
        db.execute("INSERT INTO tls VALUES (1, 0, 0, 1, 0, NULL)")
        db.executemany("INSERT INTO string VALUES (?, ?)", [(1, "/home/me/p.py"), (2, "main")])
        for i, letter in enumerate(sorted(set(calls)), 1):
            db.execute("INSERT INTO op VALUES (?, ?, '', NULL)", (i, "aten::" + letter))
            db.execute("INSERT INTO stack VALUES (?, NULL, 1, ?, 2)", (i, ord(letter)))
        numbers = {letter: i for i, letter in enumerate(sorted(set(calls)), 1)}
        for i, letter in enumerate(calls, 1):
            n = numbers[letter]
            db.execute("INSERT INTO event VALUES (?, NULL, 1, ?, 0, 49, 1, 1, 1, NULL, ?, ?, ?, 0)", (i, n, n, 10 * i, 10 * i + 5))
        db.commit()
        db.close()
        return path

    def test_statuses(self):
        a, b = self.make("a.peel", "abcd"), self.make("b.peel", "abxd")
        status, out, err = diff(a, a)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("no difference in 4 calls", out)
        status, out, err = diff(a, b)
        self.assertEqual((status, err), (1, ""))
        self.assertIn("only left  c", out)
        self.assertIn("only right x", out)
        self.assertIn("2 of 5 calls differ, first: c (p.py:99); 0 changed, 1 only left, 1 only right; hops 4 | 4", out)
        for wrong in ([a], [self.path("none.peel"), a], [a, self.path("none.peel")], [a, b, "--left", "9-12"], [a, b, "--left", "nothing"], [a, "--left", "1"], []):
            status, out, err = diff(*wrong)
            self.assertEqual((status, out), (2, ""), wrong)
            self.assert_one_sentence(err)

    def test_spans(self):
        a = self.make("a.peel", "abcabd")
        self.assertEqual(diff(a, "--left", "1-2", "--right", "4-5")[0], 0)
        status, out, _ = diff(a, "--left", "1-3", "--right", "4-6", "--json")
        self.assertEqual(status, 1)
        self.assertEqual([(o["state"], o.get("op")) for o in objects(out)], [("only left", "aten::c"), ("only right", "aten::d"), ("summary", None)])

    def test_json(self):
        out = objects(diff(self.make("a.peel", "ab"), self.make("b.peel", "b"), "--json")[1])
        self.assertEqual(len(out), 2)
        self.assertEqual({k: out[0][k] for k in ("state", "depth", "op", "line", "left", "right", "what", "left_layers", "right_layers", "left_ns", "right_ns")},
                         {"state": "only left", "depth": 0, "op": "aten::a", "line": "p.py:97", "left": 1, "right": None, "what": [], "left_layers": ["CPU"],
                          "right_layers": None, "left_ns": 5, "right_ns": None})
        self.assertEqual({k: out[1][k] for k in ("same", "changed", "only_left", "only_right")}, {"same": 1, "changed": 0, "only_left": 1, "only_right": 0})
        self.assertEqual(out[1]["right"]["calls"], 1)


@unittest.skipIf(harness.torch_version() is None, "needs PyTorch")
class Recorded(Case):
    def recorded(self, name, program, *arguments):
        path = self.path(name)
        status, _, err = harness.record(path, [program, *arguments])
        self.assertEqual(status, 0, err)
        return path

    def test_flag(self):
        program = os.path.join(HERE, "flagged.py")
        full, lean = self.recorded("full.peel", program), self.recorded("lean.peel", program, "--lean")
        for path in (full, lean):
            self.assertEqual(diff(path, path)[0], 0)
        again = self.recorded("again.peel", program)
        status, out, _ = diff(full, again)
        self.assertEqual(status, 0, out)  # another run of the same: other times, other addresses
        status, out, _ = diff(full, lean, "--json")
        self.assertEqual(status, 1)
        rows, total = objects(out)[:-1], objects(out)[-1]
        self.assertTrue(300 <= total["left"]["calls"] <= 340 and 240 <= total["right"]["calls"] <= 270, total)
        top = [(r["state"], r["op"].split(".")[0]) for r in rows if r["depth"] == 0]
        self.assertEqual(top[0], ("only left", "aten::mean"))
        left = [op for state, op in top if state == "only left"]
        self.assertEqual(left.count("aten::std"), 11)
        self.assertEqual(len(left), 7 * 11)
        self.assertEqual([op for state, op in top if state == "only right"].count("aten::clamp_"), 11)
        changed = [r for r in rows if r["state"] == "changed" and r["depth"] == 0]
        self.assertEqual([(r["op"], "dtype" in r["what"]) for r in changed], [("aten::mul.Tensor", True)])
        self.assertIn("f32[5,8] -> f64[5,8]", changed[0]["reason"])
        back = objects(diff(lean, full, "--json")[1])[-1]
        self.assertEqual((back["only_left"], back["only_right"], back["changed"]), (total["only_right"], total["only_left"], total["changed"]))

    def test_the_same_program_twice(self):
        """Addresses, times and what the allocator had at hand are no difference."""
        for name in ("train_step.py", "grad_modes.py"):
            with self.subTest(name=name):
                program = os.path.join(harness.PROGRAMS, name)
                a, b = self.recorded("a.peel", program), self.recorded("b.peel", program)
                status, out, _ = diff(a, b, "--json")
                self.assertEqual(status, 0, out)
                total = objects(out)[-1]
                self.assertGreater(total["left"]["allocated"], 0)
                self.assertEqual(total["left"]["allocated"], total["right"]["allocated"])
                self.assertEqual((total["left"]["launched"], total["not_compared"]), (None, []))

    def test_memory(self):
        """What autograd keeps is held by the span under grad; a call that takes other bytes is changed; without values nothing is compared."""
        program = self.program("import sys, torch\n"
                               "x = torch.ones(256, 256, requires_grad=True)\n"
                               "def body():\n"
                               "    return x.exp().sin().cos().sum()\n"
                               "a = body()\n"
                               "with torch.no_grad():\n"
                               "    b = body()\n"
                               "torch.ones(3).nonzero() if len(sys.argv) > 1 else torch.zeros(3).nonzero()\n", "kept.py")
        session = self.recorded("kept.peel", program)
        status, out, _ = diff(session, "--left", "mode:grad", "--right", "mode:no_grad", "--json")
        self.assertEqual(status, 1)
        total = objects(out)[-1]
        self.assertEqual(total["left"]["held"] - total["right"]["held"], 2 * 256 * 256 * 4)  # exp's result and sin's
        self.assertEqual(total["left"]["allocated"], total["right"]["allocated"])
        self.assertNotIn("allocation", str([r["what"] for r in objects(out)[:-1]]))
        out = diff(session, "--left", "mode:grad", "--right", "mode:no_grad")[1]
        self.assertIn("\nThe left holds 512 KiB more at its end.\n", out)
        other = self.recorded("other.peel", program, "more")
        status, out, _ = diff(session, other, "--json")
        self.assertEqual(status, 1)
        changed = [r for r in objects(out)[:-1] if "allocation" in r["what"]]
        self.assertEqual([r["op"] for r in changed], ["aten::nonzero"])
        self.assertIn("; allocates 24 B on cpu, left nothing", changed[0]["reason"])
        self.assertEqual((changed[0]["left_allocated"], changed[0]["right_allocated"]), ({}, {"cpu": {"blocks": 1, "bytes": 24}}))
        keys = self.path("keys.peel")
        self.assertEqual(harness.record(keys, [program], ["--detail", "keys"])[0], 0)
        self.assertIn("\nAllocation is not compared: the right recording has no allocations.\n", diff(session, keys)[1])

    def test_lines_under_several_modes_explain_themselves(self):
        session = self.recorded("modes.peel", os.path.join(harness.PROGRAMS, "grad_modes.py"))
        status, out, _ = diff(session)
        self.assertEqual(status, 1)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^left +mode:no_grad: hops \d+ to \d+, grad_modes.py:\d+ to \d+$")
        self.assertRegex(lines[1], r"^right +mode:inference_mode: ")
        self.assertRegex(lines[2], r"changed +view +AG IV CPU +-> +IV CPU +AutogradCPU skipped: excluded by inference_mode \(since hop \d+\)$")
        self.assertRegex(lines[3], r"changed +add_ +AG IV CPU +-> +IV CPU +same$")
        self.assertRegex(lines[4], r"changed +exp +AG CPU +-> +CPU +same$")
        self.assertRegex(lines[5], r"changed +linear +AG +-> +CPU +composite kernel reached at CPU instead; AutogradCPU skipped: excluded by inference_mode")
        self.assertRegex(lines[6], r"^4 of 4 calls differ, first: view \(grad_modes.py:\d+\); hops 19 \| 14; nodes 0 \| 0; saved 0 \| 0; time ")
        status, out, _ = diff(session, "--left", "mode:grad", "--right", "mode:no_grad", "--json")
        self.assertEqual(status, 1)
        self.assertEqual([r["what"] for r in objects(out)[:-1] if "node" in r["what"]], [["node"], ["node"]])
        # A tensor made inside has no ADInplaceOrView either.
        out = diff(session, "--left", "mode:inference_mode", "--right", "mode:inference_mode#2")[1]
        self.assertIn("ADInplaceOrView skipped: not in the set, its arguments are inference tensors", out)


if __name__ == "__main__":
    harness.need(torch=False)
    main()
