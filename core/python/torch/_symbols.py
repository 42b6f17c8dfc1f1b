"""Functions of numbers that torch.compile may know as symbols only; here they are numbers."""
import math


def sym_not(a):
    return not a


def sym_int(a):
    return int(a)


def sym_float(a):
    return float(a)


def sym_sqrt(a):
    return math.sqrt(a)


def _wider(choose):
    def chosen(a, b):
        one = choose(a, b)
        return float(one) if isinstance(a, float) or isinstance(b, float) else one
    return chosen


sym_max, sym_min = _wider(max), _wider(min)


def sym_sum(args):
    return sum(args)


def sym_ite(b, t, f):
    return t if b else f
