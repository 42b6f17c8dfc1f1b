"""What the comparison leaves out, and why. Nothing is left out that isn't in this table; run.py prints how often each row applied.

A row is (name, what is not compared, reason, test). `test(oracle_row, session_row, field)` says whether a difference in that field is covered.
Fields: kind, arguments, raised, ...; see compare.py.
"""


def unknown_kind(oracle, session, what):
    return what == "kind" and oracle.kind == "unknown" and session.kind in ("call", "redispatch")


def unknown_key(oracle, session, what):
    return what == "key" and oracle.kind == "unknown" and oracle.key == "PythonDispatcher"


def unknown_arguments(oracle, session, what):
    return what == "arguments" and (oracle.kind == "unknown" or oracle.arguments is None)


def unknown_look_up(oracle, session, what):
    return session.kind == "missing_kernel" and (what == "keyset" and session.keyset == 0 or what == "arguments" and session.arguments is None)


def undefined_tensor(oracle, session, what):
    """The session's union has exactly what an undefined tensor adds, and the key set of the call has its AutogradOther too."""
    if what != "arguments" or session.arguments is None or oracle.arguments is None or oracle.arguments & ~session.arguments:
        return False
    more = session.arguments & ~oracle.arguments
    return bool(more) and not more & ~session.undefined


def by_compare(oracle, session, what):
    return False


def message(oracle, session, what):
    return what == "message"


EXCLUSIONS = [
    ("kind in a blind spot", "call or redispatch",
     "inside mode handlers, and below keys above the oracle's own, the oracle sees where a hop landed but not how it came there",
     unknown_kind),
    ("key below the Python dispatcher", "the key",
     "it calls the kernel of a key of its choice with the whole set; where that kernel came through an alias, the oracle knows the set only",
     unknown_key),
    ("arguments in a blind spot", "the union over the arguments", "the same: only the oracle's rows of kind call say it", unknown_arguments),
    ("set of a failed look-up", "key set and union of a missing_kernel hop",
     "PyTorch names only the key when a look-up fails; the session has no set then, rather than a guessed one", unknown_look_up),
    ("undefined tensor", "AutogradOther and ADInplaceOrView in the union over the arguments",
     "an undefined tensor handed over as an optional one counts in an unboxed call; boxed for the oracle it is None", undefined_tensor),
    ("message", "the exception's text",
     "the oracle sees C++ exceptions as they pass, before Python's type and text are known; that both raised is compared", message),
    ("nodes that passed away", "a node that only the oracle met, as an argument inside another call",
     "an in-place kernel regenerates the node of a view, and replaces it before it returns: no tensor has it afterwards", by_compare),
    ("nodes that the oracle never met", "a node that only the session has",
     "the oracle finds nodes through tensors that calls take or return; the session also follows edges", by_compare),
]


def excluded(oracle, session, what):
    """The name of the exclusion that covers this difference, or None."""
    for name, _, _, test in EXCLUSIONS:
        if test(oracle, session, what):
            return name
    return None
