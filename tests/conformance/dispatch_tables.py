"""Every operator of stock PyTorch: its registrations and the backend fallbacks, fed to the embedded dispatcher, must give stock's computed
table and dump, line by line. In-tree operators don't reach every rule, so some made here with torch.library are added. Breaking any one rule
must make the comparison fail: the rules are data, and peel_core_replay breaks each in every way that it knows.
"""
import random
import sys
import time

from dispatch_replay import Replay, bare_operator, fallbacks, feed_operator, one_line, under_torch

KEYS = ["CPU", "CUDA", "SparseCPU", "SparseHIP", "QuantizedCPU", "NestedTensorCPU", "FPGA", "Lazy", "XLA", "HIP", "MTIA", "AutogradCPU", "AutogradOther",
        "AutogradNestedTensor", "AutogradMTIA", "FuncTorchBatched", "Functionalize", "Meta"]
ALIASES = ["Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "CompositeImplicitAutogradNestedTensor",
           "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"]


def made_operators(torch, seed, count=400):
    """Operators with random sets of registrations: mostly aliases against each other and against backends."""
    rng = random.Random(seed)
    kept = []
    library = torch.library.Library("peel_made", "DEF")
    for i in range(count):
        library.define("f%d(Tensor x) -> Tensor" % i)
        keys = rng.sample(ALIASES, rng.randint(1, 4)) + rng.sample(KEYS, rng.randint(0, 3))
        rng.shuffle(keys)
        for key in keys:
            try:
                raw = torch._C._dispatch_library("IMPL", "peel_made", "", "made", i)
                raw.impl("f%d" % i, key, lambda x: x)
            except RuntimeError as e:  # a key that PyTorch cannot parse by its name
                assert "could not parse dispatch key" in str(e), e
                continue
            kept.append(raw)
    return library, kept


def main():
    import torch
    began = time.monotonic()
    seed = 20260
    kept = made_operators(torch, seed), bare_operator(torch)
    replay = Replay()
    commands = fallbacks(kept[1][1])
    names = sorted(torch._C._dispatch_get_all_op_names())
    for name in names:
        dump = torch._C._dispatch_dump(name)
        commands += feed_operator(name, dump)
        commands.append(("expect", name, one_line(dump), one_line(torch._C._dispatch_dump_table(name))))
    refused = [(c, a) for c, a in zip(commands, replay.send_all(commands)) if a]
    for command, answer in refused[:10]:
        print("refused: %s: %s" % (command, answer))
    answer = replay.send("check")
    print("\n".join(answer))
    said = dict(line.split(" ") for line in answer if not line.startswith("!") and line.count(" ") == 1)
    caught, missed = 0, []
    for line in replay.send("mutations"):
        what, differing = line.split("\t")
        caught += differing != "0"
        if differing == "0":
            missed.append(what)
    replay.close()
    print("torch %s, %d operators of its own and made here (seed %d), %d lines, %d differ; %s dumps differ; %d broken rules, %d caught; %.1f s"
          % (torch.__version__, len(names), seed, int(said["lines"]), int(said["differing"]), said["dumps_differing"], caught + len(missed), caught,
             time.monotonic() - began))
    for what in missed:
        print("not caught: " + what)
    return 1 if refused or missed or said["differing"] != "0" or said["dumps_differing"] != "0" else 0


if __name__ == "__main__":
    under_torch(main)
