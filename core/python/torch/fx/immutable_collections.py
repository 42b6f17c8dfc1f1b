"""Lists and dictionaries as a node's arguments hold them: who changes one would leave the graph's uses wrong."""

_HELP = """
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args
""".strip()


def _refuse(self, *args, **kwargs):
    raise TypeError("%r object does not support mutation. %s" % (type(self).__name__, _HELP))


class immutable_list(list):
    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


class immutable_dict(dict):
    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (tuple(self.items()),)
