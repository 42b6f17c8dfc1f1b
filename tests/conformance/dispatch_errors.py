"""What stock refuses when libraries, schemas, kernels and fallbacks are registered, looked up or missing is refused with the same words; what it accepts is
accepted, and leaves the same registrations and table."""
from dispatch_replay import Replay, bare_operator, fallbacks, under_torch

# Fields as peel_core_replay takes them.
SCRIPT = [
    ("library", "d", "DEF", "peel_e", "", "file", "1"),
    ("library.def", "d", "f(Tensor x) -> Tensor"),
    ("library", "twice", "DEF", "peel_e", "", "file", "2"),
    ("library.def", "d", "f(Tensor x) -> Tensor"),
    ("library.def", "d", "other::g(Tensor x) -> Tensor"),
    ("library.def", "d", "peel_e::own.out(Tensor x) -> Tensor"),
    ("library.def", "d", "k.default(Tensor x) -> Tensor"),
    ("library.def", "d", "k.__x(Tensor x) -> Tensor"),
    ("library.def", "d", "k"),
    ("library.def", "d", "k(Nothing x) -> Tensor"),
    ("library", "fragment", "FRAGMENT", "peel_e", "", "file", "3"),
    ("library.def", "fragment", "more(Tensor x) -> Tensor"),
    ("library.def", "fragment", "other::more(Tensor x) -> Tensor"),
    ("library", "cpu", "IMPL", "peel_e", "CPU", "file", "4"),
    ("library.def", "cpu", "h(Tensor x) -> Tensor"),
    ("library.impl", "cpu", "f", "CUDA"),
    ("library.impl", "cpu", "f", "CPU"),
    ("library.impl", "cpu", "other::f", "CPU"),
    ("library.impl", "cpu", "f(Tensor x) -> Tensor", "CPU"),
    ("library.impl", "cpu", "f..g", "CPU"),
    ("library.impl", "cpu", "f.g h", "CPU"),
    ("library.impl", "cpu", "f.default", "CPU"),
    ("library.impl", "d", "peel_e::own.out", "Autograd"),
    ("library.impl", "d", "own.out", "CompositeExplicitAutograd"),
    ("library", "any", "IMPL", "peel_e", "", "file", "5"),
    ("library.impl", "any", "own.out", "Undefined"),
    ("library.impl", "any", "other::f", "CPU"),
    ("library.impl", "any", "dangling.o", "CPU"),
    ("find", "peel_e::f"),
    ("find", "peel_e::own", "out"),
    ("find", "peel_e::nope"),
    ("find", "peel_e::nope", "x"),
    ("find", "peel_e::dangling", "o"),
    ("library.fallback", "cpu"),
    ("library", "u", "IMPL", "_", "PrivateUse3", "file", "6"),
    ("library.fallback", "u"),
    ("library", "v", "IMPL", "_", "PrivateUse3", "file", "7"),
    ("library.fallback", "v"),
    ("library", "w", "IMPL", "_", "Autograd", "file", "8"),
    ("library.fallback", "w"),
    ("library", "x", "IMPL", "_", "CompositeImplicitAutogradNestedTensor", "file", "9"),
    ("library.fallback", "x"),
    # A redispatch to where no kernel is, and to nowhere.
    ("redispatch", "peel_e::f", "PrivateUse2"),
    ("redispatch", "peel_e::f", "AutogradIPU"),
    ("redispatch", "peel_e::f", "Undefined"),
    ("library.def", "d", "both(Tensor x) -> Tensor"),
    ("library.impl", "d", "both", "CompositeImplicitAutograd"),
    ("library.impl", "d", "both", "FPGA"),
    ("redispatch", "peel_e::both", "AutogradOther"),
    ("dump", "peel_e::both"),
    ("dump", "peel_e::f"),
    ("dump", "peel_e::own.out"),
    ("dump", "peel_e::dangling.o"),
]


class Stock:
    def __init__(self, torch):
        self.c, self.libraries, self.tensor = torch._C, {}, torch.ones(1)

    def run(self, what, *f):
        nothing = lambda *a, **k: None  # noqa: E731
        c = self.c
        if what == "library":
            self.libraries[f[0]] = c._dispatch_library(f[1], f[2], f[3], f[4], int(f[5])), f[3]
        elif what == "library.def":
            self.libraries[f[0]][0].def_(f[1], "")
        elif what == "library.impl":
            self.libraries[f[0]][0].impl(f[1], f[2], nothing)
        elif what == "library.fallback":
            library, key = self.libraries[f[0]]
            library.fallback(key, nothing, False)
        elif what == "find":
            return str(c._dispatch_find_schema_or_throw(f[0], f[1] if len(f) > 1 else "").schema())
        elif what == "redispatch":
            c._dispatch_find_schema_or_throw(f[0], "").redispatch_boxed(c.DispatchKeySet(c._parse_dispatch_key(f[1])), self.tensor)
        elif what == "dump":
            return (c._dispatch_dump(f[0]) + c._dispatch_dump_table(f[0])).rstrip("\n")
        return ""


def main():
    import torch
    bare = bare_operator(torch)
    stock, replay = Stock(torch), Replay()
    for command in fallbacks(bare[1]):
        replay.do(*command)
    differing = errors = 0
    for command in SCRIPT:
        try:
            theirs = stock.run(*command)
        except RuntimeError as e:
            theirs = "error " + str(e)
            errors += 1
        ours = "\n".join(replay.send(*command)).replace("\x1f", "\n")
        # An internal assertion of stock names a file and dumps the operator around the text.
        asserted = "INTERNAL ASSERT" in theirs and ours.startswith("error ") and ours[len("error "):] in theirs
        if ours.rstrip("\n") != theirs.rstrip("\n") and not asserted:
            differing += 1
            print("%s\n  ours    %s\n  stock's %s" % (" ".join(command), ours, theirs))
    replay.close()
    print("torch %s: %d steps, %d refused by stock; %d differ" % (torch.__version__, len(SCRIPT), errors, differing))
    return 1 if differing else 0


if __name__ == "__main__":
    under_torch(main)
