"""Parts of a graph that look like a pattern, replaced."""
import copy
from dataclasses import dataclass
from typing import NamedTuple

import torch

from .._missing import attribute
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import SubgraphMatcher


class Match(NamedTuple):
    anchor: Node
    nodes_map: dict


@dataclass
class ReplacedPatterns:
    anchor: Node
    nodes_map: dict
    replacements: list


def _graph_of(what):
    if isinstance(what, GraphModule):
        return what.graph
    return what if isinstance(what, Graph) else symbolic_trace(what).graph


def _held(module, target):
    place, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(place), name, None)
    except AttributeError:
        return None


def _bring_members(gm, replacement):
    """What the replacement's nodes refer to comes with them."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _held(gm, node.target) is not None:
            continue
        wanted = _held(replacement, node.target)
        if wanted is None:
            raise RuntimeError('Attempted to create a "', node.op, '" node during subgraph rewriting with target %s, but the referenced attribute does not exist in the replacement GraphModule'
                               % node.target)
        if isinstance(wanted, torch.nn.Module):
            gm.add_submodule(node.target, copy.deepcopy(wanted))
        else:
            setattr(gm, node.target, copy.deepcopy(wanted))
    gm.graph.lint()


def _insert_point(graph, returning):
    """The first user of what the match returns; with no user, the node after it."""
    users = {user for node in returning for user in node.users}
    if users:
        return next(n for n in graph.nodes if n in users)
    return next(n for n in reversed(graph.nodes) if n in returning).next


def _replace(graph, match, pattern, replacement, replaced):
    inputs = [n for n in replacement.nodes if n.op == "placeholder"]
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError("Placeholder count mismatch: %d vs %d" % (len(match.placeholder_nodes), len(inputs)))
    for nodes, keys in ((match.placeholder_nodes, range(len(inputs))), (match.nodes_map, [k for k in match.nodes_map if k.op == "placeholder"])):
        for key in keys:
            if isinstance(nodes[key], Node):
                nodes[key] = replaced.get(nodes[key], nodes[key])
    values = dict(zip(inputs, match.placeholder_nodes))
    with graph.inserting_before(_insert_point(graph, match.returning_nodes)):
        results = graph.graph_copy(replacement, values)
    results = (results,) if isinstance(results, Node) else results
    made = [v for v in values.values() if v not in match.placeholder_nodes]
    if len(match.returning_nodes) != len(results):
        raise AssertionError("Returning nodes count mismatch: %d vs %d" % (len(match.returning_nodes), len(results)))
    for old, new in zip(match.returning_nodes, results):
        old.replace_all_uses_with(new)
        replaced[old] = new
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    return ReplacedPatterns(anchor=match.anchors[0], nodes_map=match.nodes_map, replacements=made)


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None, node_name_match=""):
    graph, pattern = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True, ignore_literals=ignore_literals)
    matches = [m for m in matcher.match(graph, node_name_match=node_name_match) if all(wanted(m, graph, pattern) for wanted in match_filters or ())]
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement is None else _graph_of(replacement)
    replaced, done = {}, []
    for match in matches:
        by = replacement_callback(match, graph, pattern) if replacement_callback is not None else common
        done.append(_replace(graph, match, pattern, by, replaced))
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _bring_members(gm, replacement)
    return done


def replace_pattern(gm, pattern, replacement):
    return [Match(anchor=m.anchor, nodes_map=m.nodes_map) for m in replace_pattern_with_filters(gm, pattern, replacement)]


__getattr__ = attribute("torch.fx.subgraph_rewriter")
