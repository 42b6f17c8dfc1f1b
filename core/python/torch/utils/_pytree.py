"""Values in nested lists, tuples and dictionaries, by their leaves."""
from collections import OrderedDict, defaultdict, deque, namedtuple  # noqa: F401

from .._missing import attribute


def _children(tree):
    """(the values in it, how it is made of others); None for a leaf."""
    kind = type(tree)
    if kind in (list, tuple):
        return list(tree), kind
    if kind is deque:
        return list(tree), lambda values: deque(values, maxlen=tree.maxlen)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(tree), lambda values: kind(*values)
    if isinstance(tree, tuple) and hasattr(tree, "n_fields"):
        return list(tree), kind
    if kind in (dict, OrderedDict):
        return list(tree.values()), lambda values: kind(zip(tree.keys(), values))
    if kind is defaultdict:
        return list(tree.values()), lambda values: defaultdict(tree.default_factory, zip(tree.keys(), values))
    return None


def tree_map(func, tree, *rests, is_leaf=None):
    parts = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if parts is None:
        return func(tree, *rests)
    values, make = parts
    others = [_children(rest)[0] for rest in rests]
    return make([tree_map(func, *vs, is_leaf=is_leaf) for vs in zip(values, *others)])


def tree_leaves(tree, is_leaf=None):
    leaves = []
    tree_map(leaves.append, tree, is_leaf=is_leaf)
    return leaves


def tree_map_only(kinds, func, tree=None, is_leaf=None):
    def only(f):
        return lambda x: f(x) if isinstance(x, kinds) else x
    return only if tree is None else tree_map(only(func), tree, is_leaf=is_leaf)


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_leaves(tree, is_leaf)))


class TreeSpec:
    """How a tree is made of its leaves."""

    def __init__(self, tree, is_leaf=None):
        self._tree, self._is_leaf = tree, is_leaf
        self.num_leaves = len(tree_leaves(tree, is_leaf))

    def unflatten(self, leaves):
        rest = iter(leaves)
        return tree_map(lambda _: next(rest), self._tree, is_leaf=self._is_leaf)


def tree_flatten(tree, is_leaf=None):
    return tree_leaves(tree, is_leaf), TreeSpec(tree, is_leaf)


def tree_unflatten(leaves, treespec):
    return treespec.unflatten(leaves)


__getattr__ = attribute("torch.utils._pytree")
