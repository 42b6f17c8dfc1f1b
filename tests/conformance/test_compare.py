"""The comparison itself must be able to fail: each way in which two sides can differ is made on purpose and has to be found."""
import copy
import unittest

from compare import compare
from rows import Node, Row, fold


def raw(kind, depth, op, key, ks, **more):
    return dict(dict(kind=kind, thread=0, depth=depth, op=op, key=key, ks=hex(ks), inc="0x404000000", exc="0x0", args=hex(ks), grad=1, inf=0, on=1, announced=0,
                     seq=[0, 1], raised="", nodes=[]), **more)


def sample():
    """add on tensors that require grad, as the oracle writes it: a call, its landing, a redispatch; then a call that fails to land."""
    node = {"name": "AddBackward0", "seq": 0, "next": ["AccumulateGrad", "none"]}
    return [
        raw("call", 0, "aten::add.Tensor", "AutogradCPU", 0x1000010001),
        raw("hop", 1, "aten::add.Tensor", "AutogradCPU", 0x1000010001, nodes=[node]),
        raw("hop", 2, "aten::add.Tensor", "CPU", 0x10001),
        raw("call", 0, "aten::exp", "QuantizedCPU", 0x100001, raised="Could not run", seq=[1, 1]),
    ]


class Fold(unittest.TestCase):
    def test_call_and_landing_are_one(self):
        rows = fold(sample())
        self.assertEqual([(r.op, r.depth, r.kind, r.key) for r in rows], [
            ("aten::add.Tensor", 0, "call", "AutogradCPU"), ("aten::add.Tensor", 1, "redispatch", "CPU"), ("aten::exp", 0, "missing_kernel", "QuantizedCPU")])
        self.assertEqual([n.name for n in rows[0].nodes], ["AddBackward0"])
        self.assertEqual(rows[2].raised, "Could not run")

    def test_nested_call_of_the_same_operator_is_its_own_row(self):
        rows = fold([raw("call", 0, "aten::mm", "AutocastCPU", 3), raw("hop", 1, "aten::mm", "AutocastCPU", 3),
                     raw("call", 2, "aten::mm", "CPU", 1), raw("hop", 3, "aten::mm", "CPU", 1)])
        self.assertEqual([(r.depth, r.kind) for r in rows], [(0, "call"), (1, "call")])

    def test_kinds_in_blind_spots(self):
        rows = fold([raw("call", 0, "aten::mm", "Python", 3), raw("hop", 1, "aten::mm", "Python", 3), raw("hop", 2, "aten::mm", "CPU", 1, on=0),
                     raw("hop", 3, "aten::resolve_conj", "CPU", 1, on=0), raw("hop", 3, "aten::mm", "CPU", 1, on=0, announced=1)])
        self.assertEqual([r.kind for r in rows], ["call", "unknown", "unknown", "call"])  # a Python handler may name the key


class Differences(unittest.TestCase):
    def setUp(self):
        self.oracle = fold(sample())
        self.session = copy.deepcopy(self.oracle)

    def check(self, word):
        problems = compare(self.oracle, self.session).problems
        self.assertTrue(any(word in p for p in problems), problems)

    def test_equal(self):
        result = compare(self.oracle, self.session)
        self.assertEqual((result.problems, result.rows, result.nodes), ([], 3, 1))

    def test_shape(self):
        for what, value in (("op", "aten::sub.Tensor"), ("kind", "call"), ("key", "Meta"), ("depth", 2)):
            with self.subTest(what):
                self.setUp()
                setattr(self.session[1], what, value)
                self.check("rows part at row 1 (%s)" % what)

    def test_fields(self):
        for what in ("keyset", "included", "excluded", "grad", "inference", "arguments"):
            with self.subTest(what):
                self.setUp()
                setattr(self.session[0], what, 5)
                self.check(what + " differs at row 0")

    def test_missing_and_extra_rows(self):
        del self.session[-1]
        self.check("the session's side ends")
        self.session = copy.deepcopy(self.oracle) + [copy.deepcopy(self.oracle[0])]
        self.check("the oracle's side ends")

    def test_raised(self):
        self.session[2].raised = None
        self.check("raised differs")

    def test_unknown_kind_is_excluded_and_counted(self):
        self.oracle[1].kind = "unknown"
        result = compare(self.oracle, self.session)
        self.assertEqual((result.problems, result.applied["kind in a blind spot"]), ([], 1))
        self.session[1].kind = "missing_kernel"
        self.check("(kind)")

    def test_undefined_tensor_is_excluded_and_counted(self):
        self.session[0].undefined, self.session[0].arguments = 0x1400000000, self.oracle[0].arguments | 0x400000000
        result = compare(self.oracle, self.session)
        self.assertEqual((result.problems, result.applied["undefined tensor"]), ([], 1))
        self.session[0].arguments |= 2
        self.check("arguments differs")

    def test_nodes(self):
        self.session[0].nodes[0].name = "SubBackward0"
        self.check("name: oracle AddBackward0")
        self.session[0].nodes[0].name = "AddBackward0"
        self.session[0].nodes[0].next = ["none", "none"]
        self.check("edges")
        self.session[1].nodes, self.session[0].nodes = self.session[0].nodes, []
        self.check("made by")
        self.session[1].nodes = []
        self.check("no node with sequence number 0")

    def test_passing_nodes_are_counted(self):
        self.oracle[1].nodes = [Node("AsStridedBackward0", 7, [], False)]
        result = compare(self.oracle, self.session)
        self.assertEqual((result.problems, result.applied["nodes that passed away"]), ([], 1))
        self.oracle[0].nodes.append(self.oracle[1].nodes.pop())
        self.check("no node with sequence number 7")

    def test_other_threads(self):
        more = [Row(7, 0, "aten::sin", "call", "CPU", 1, 0, 0, True, False)]
        self.session += more
        self.check("no thread of the oracle matches")
        self.oracle += [Row(2, 0, "aten::sin", "call", "CPU", 1, 0, 0, True, False)]
        self.assertEqual(compare(self.oracle, self.session).problems, [])

    def test_node_made_outside(self):
        self.oracle[1].nodes = [Node("CubeBackward", 5, [], False)]
        self.session[1].nodes = [Node("CubeBackward", 5, [], True)]
        self.check("made outside of a call")


if __name__ == "__main__":
    unittest.main()
