"""Values in nested lists, tuples and dictionaries, by their leaves."""
from collections import OrderedDict, defaultdict, deque, namedtuple  # noqa: F401

from .._missing import attribute


def _parts(tree):
    """(kind, what beside the values makes a container the same, the values, how it is made of others); None for a leaf."""
    kind = type(tree)
    if kind in (list, tuple):
        return kind, None, list(tree), kind
    if kind is deque:
        return kind, tree.maxlen, list(tree), lambda values: deque(values, maxlen=tree.maxlen)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return namedtuple, kind, list(tree), lambda values: kind(*values)
    if isinstance(tree, tuple) and hasattr(tree, "n_fields"):
        return kind, None, list(tree), kind
    if kind in (dict, OrderedDict):
        keys = list(tree.keys())
        return kind, keys, list(tree.values()), lambda values: kind(zip(keys, values))
    if kind is defaultdict:
        keys = list(tree.keys())
        return kind, [tree.default_factory, keys], list(tree.values()), lambda values: defaultdict(tree.default_factory, zip(keys, values))
    return None


def _keys(kind, context):
    return context if kind in (dict, OrderedDict) else context[1] if kind is defaultdict else None


def _matching(tree, kind, context, count):
    """The values of a tree that is to be of this kind."""
    parts = _parts(tree)
    dictionaries = (dict, OrderedDict, defaultdict)
    if parts is None or (parts[0] is not kind and not (kind in dictionaries and parts[0] in dictionaries)):
        wanted = context if kind is namedtuple else kind
        raise ValueError("Node type mismatch; expected %r, but got %r." % (wanted, type(tree)))
    other, its_context, values, _ = parts
    if len(values) != count:
        raise ValueError("Node arity mismatch; expected %d, but got %d." % (count, len(values)))
    keys = _keys(kind, context)
    if keys is not None:
        theirs = _keys(other, its_context)
        if set(keys) != set(theirs):
            missing, extra = set(keys) - set(theirs), set(theirs) - set(keys)
            text = ("; missing key(s): %s" % missing if missing else "") + ("; extra key(s): %s" % extra if extra else "")
            raise ValueError("Node keys mismatch%s." % text)
        return [tree[k] for k in keys]
    if context != its_context and kind is not deque:
        raise ValueError("Node context mismatch for custom node type %r." % kind)
    return values


def tree_map(func, tree, *rests, is_leaf=None):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return func(tree, *rests)
    kind, context, values, make = parts
    others = [_matching(rest, kind, context, len(values)) for rest in rests]
    return make([tree_map(func, *vs, is_leaf=is_leaf) for vs in zip(values, *others)])


def tree_map_(func, tree, *rests, is_leaf=None):
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_leaves(tree, is_leaf=None):
    leaves = []
    tree_map(leaves.append, tree, is_leaf=is_leaf)
    return leaves


def arg_tree_leaves(*args, **kwargs):
    return tree_leaves((args, kwargs))


def tree_map_only(kinds, func, tree=None, is_leaf=None):
    def only(f):
        return lambda x: f(x) if isinstance(x, kinds) else x
    return only if tree is None else tree_map(only(func), tree, is_leaf=is_leaf)


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_leaves(tree, is_leaf)))


class TreeSpec:
    """How a tree is made of its leaves. `type` is None for a leaf."""

    def __init__(self, type, context, children, make=None):
        self.type, self.context, self._children, self._make = type, context, children, make
        self.num_children = len(children)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children)

    def children(self):
        return list(self._children)

    def is_leaf(self):
        return self.type is None

    def unflatten(self, leaves):
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError("treespec.unflatten(leaves): `leaves` has length %d but the spec refers to a pytree that holds %d items (%s)." % (len(leaves), self.num_leaves, self))
        rest = iter(leaves)

        def build(spec):
            return next(rest) if spec.type is None else spec._make([build(c) for c in spec._children])
        return build(self)

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return self.type is other.type and self.context == other.context and self._children == other._children

    __hash__ = None

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        inner = (",\n" + " " * (indent + 2)).join(c.__repr__(indent + 2) for c in self._children)
        return "TreeSpec(%s, %s, [%s])" % (self.type.__name__, self.context, inner)


def tree_structure(tree, is_leaf=None):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return TreeSpec(None, None, [])
    kind, context, values, make = parts
    return TreeSpec(kind, context, [tree_structure(v, is_leaf) for v in values], make)


def tree_flatten(tree, is_leaf=None):
    return tree_leaves(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_unflatten(leaves, treespec):
    return treespec.unflatten(leaves)


class _Star:
    def __repr__(self):
        return "*"


def treespec_pprint(treespec):
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree whose leaves may stand for whole parts of the other; None where the two don't fit."""
    out = []
    try:
        tree_map(lambda x, part: out.extend([x] * len(tree_leaves(part, is_leaf))), tree, treespec.unflatten([0] * treespec.num_leaves), is_leaf=is_leaf)
    except ValueError:
        return None
    return out


__getattr__ = attribute("torch.utils._pytree")
