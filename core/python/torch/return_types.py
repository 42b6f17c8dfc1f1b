"""Tuples of results with names."""
import operator


def make(name, fields):
    """The class of an operator's results."""
    def __repr__(self):
        return "torch.return_types.%s(\n%s)" % (name, ",\n".join("%s=%r" % (f, v) for f, v in zip(fields, self)))
    members = {f: property(operator.itemgetter(i)) for i, f in enumerate(fields)}
    return type(name, (tuple,), {**members, "__repr__": __repr__, "__module__": "torch.return_types", "n_fields": len(fields)})
