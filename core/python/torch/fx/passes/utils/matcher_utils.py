"""Finds the parts of a graph that look like a pattern."""
import copy
from dataclasses import dataclass, field

import torch

from ...._missing import attribute
from ...graph_module import get_attr
from ...node import Node


@dataclass
class InternalMatch:
    anchors: list
    nodes_map: dict = field(default_factory=dict)
    placeholder_nodes: list = field(default_factory=list)
    returning_nodes: list = field(default_factory=list)
    name_node_map: dict = field(default_factory=dict)

    def __copy__(self):
        return InternalMatch(self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy())


def _closed(nodes):
    """Whether no value that leaves the nodes comes back to them on a way around."""
    own = set(nodes)
    to_see = [user for node in own for user in node.users if user not in own]
    seen = set()
    while to_see:
        node = to_see.pop()
        if node in own:
            return False
        seen.add(node)
        to_see += [user for user in node.users if user not in seen]
    return True


class SubgraphMatcher:
    """Compares from the values that the pattern returns up to its placeholders, which stand for anything."""

    def __init__(self, pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True, ignore_literals=False):
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else [n for n in output.all_input_nodes if len(n.users) == 1]

    def _same_kind(self, pn, gn, node_name_match):
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op or pn.op in ("placeholder", "output"):
            return pn.op == gn.op
        if pn.op == "get_attr":
            mine, theirs = get_attr(pn.graph.owning_module, pn.target), get_attr(gn.graph.owning_module, gn.target)
            if type(mine) is type(theirs) and not isinstance(mine, torch.Tensor):
                raise RuntimeError("Unsupported type %s when matching attributes" % (mine,))
            return type(mine) is type(theirs)
        return pn.target == gn.target

    def _same_value(self, p, g, match):
        if isinstance(p, Node) and isinstance(g, Node):
            return self._same(p, g, match)
        if isinstance(p, (list, tuple)) and isinstance(g, (list, tuple)):
            return len(p) == len(g) and all(self._same_value(a, b, match) for a, b in zip(p, g))
        if isinstance(p, Node):
            fits = p.op == "placeholder" and match.nodes_map.setdefault(p, g) == g
        else:
            fits = not isinstance(g, Node) and type(p) is type(g) and p == g
        return fits or self.ignore_literals

    def _same(self, pn, gn, match, node_name_match=""):
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values() or not self._same_kind(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs):
            return self._same_value([*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()], match)
        if pn.op == "call_function" and isinstance(pn.target, torch._ops.OpOverload):
            return self._same_value(_all_arguments(pn), _all_arguments(gn), match)
        return False

    def _leaks(self, match):
        own = {gn for pn, gn in match.nodes_map.items() if pn.op != "placeholder"}
        return any(user not in own for pn, gn in match.nodes_map.items() if pn.op != "placeholder" and pn not in self.pattern_returning_nodes for user in gn.users)

    def match(self, graph, node_name_match=""):
        candidates = [(anchor, found) for anchor in self.pattern_anchors if (found := [n for n in graph.nodes if self._same_kind(anchor, n, node_name_match)])]
        found = []

        def extend(i, match):
            if i == len(candidates):
                match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
                found.append(match)
                return
            anchor, nodes = candidates[i]
            for node in nodes:
                trial = copy.copy(match)
                if self._same(anchor, node, trial, node_name_match):
                    extend(i + 1, trial)
        if candidates:
            extend(0, InternalMatch(anchors=self.pattern_anchors))
        matches, taken = [], set()
        for match in found:
            own = [gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")]
            if self._leaks(match) or not _closed(own) or (self.remove_overlapping_matches and not taken.isdisjoint(own)):
                continue
            taken.update(own)
            matches.append(match)
        return matches


def _all_arguments(node):
    """Of a call of an operator every argument, with defaults."""
    schema = node.target._schema.arguments
    return [node.kwargs[a.name] if a.name in node.kwargs else node.args[i] if not a.kwarg_only and i < len(node.args) else a.default_value for i, a in enumerate(schema)]


__getattr__ = attribute("torch.fx.passes.utils.matcher_utils")
