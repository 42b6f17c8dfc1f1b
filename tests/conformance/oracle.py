"""What stock PyTorch dispatches for a program, by public means alone: the independent answer that the recorder is held against.

    oracle.py        PROGRAM.py OUT.json [ARG...]   calls: operator, key, key set, thread-local sets, nodes made, exception
    oracle.py --hops PROGRAM.py OUT.json [ARG...]   the same and every redispatch: rows of kind "hop", the landing one first

Rows are in begin order with `depth` nesting; `ks`, `inc`, `exc`, `args` (union over the arguments) are raw key sets without the oracle's own bit. Needs g++ and an
installed torch. The library is built once per version of PyTorch into PEEL_ORACLE_CACHE (default: the folder for temporary files).
The exit status is the program's own.

Blind, which exclusions.py repeats:
  * calls made inside a TorchDispatchMode or __torch_dispatch__ handler, while the Python dispatcher is enabled
    (torch.compile traces so), or below PreDispatch: their landing hop is a row, and `announced` says that it was a call,
    unless the operator is one of those that PyTorch never announces (size, is_leaf, ...) or the Python dispatcher called its kernel;
  * threads that anything but Python's threading starts (a thread's included set begins without the oracle's key);
  * hops of operators registered from C++ while the program runs;
  * a kernel whose torch.library.Library is dropped while it is wrapped.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = {"Undefined", "TESTING_ONLY_GenericMode"}
# Where a slot's kernel was registered, by the provenance that the table's dump prints.
RULE = {
    "math kernel": "CompositeImplicitAutograd",
    "autograd kernel": "Autograd",
    "batched kernel": "FuncTorchBatchedDecomposition",
    "nested kernel": "CompositeImplicitAutogradNestedTensor",
}


def build():
    """Path of the oracle's library for the PyTorch at hand, built when it is missing or older than its source."""
    import torch
    cache = os.environ.get("PEEL_ORACLE_CACHE") or tempfile.gettempdir()
    os.makedirs(cache, exist_ok=True)
    out = os.path.join(cache, "dispatch_oracle_%s.so" % torch.__version__)
    source, package = os.path.join(HERE, "oracle.cpp"), os.path.dirname(torch.__file__)
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        made = "%s.%d" % (out, os.getpid())
        subprocess.check_call(
            [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-fPIC", "-shared", source, "-I" + package + "/include",
             "-I" + package + "/include/torch/csrc/api/include", "-L" + package + "/lib", "-ltorch_cpu", "-lc10",
             "-Wl,-rpath," + package + "/lib", "-o", made])
        os.replace(made, out)
    return out


def slots(op):
    """(key, key or alias that supplied its kernel, provenance) of each slot of the operator's table that runs something."""
    import torch
    registered = set(re.findall(r"^(\w+)(?:\[alias\])?: ", torch._C._dispatch_dump(op), re.M))
    for line in torch._C._dispatch_dump_table(op).splitlines():
        m = re.match(r"(\w+): (fallthrough )?.*\[([a-z ]+)\]$", line)
        if not m or m[2] or m[1] in SKIP:
            continue
        at = RULE.get(m[3], m[1])
        if m[3] == "default backend kernel":
            at = "CompositeExplicitAutogradNonFunctional"
            if at not in registered or m[1].startswith("Sparse"):
                at = "CompositeExplicitAutograd"
        elif m[3] not in RULE and m[3] not in ("kernel", "backend fallback"):
            continue
        yield m[1], at, m[3]


def wrap(library, op, at, key, loose=False):
    name, _, overload = op.partition(".")
    number = [library.oracle_key(k.encode()) for k in (at, key)]
    library.oracle_wrap(name.encode(), overload.encode(), *number, int(loose))


def wrap_all(library, ops):
    """Wraps the kernels that each operator has, at the key or alias that supplied them, so that no rule of the table decides differently."""
    for op in ops:
        done = set()
        for key, at, _ in slots(op):
            if at not in done:
                done.add(at)
                wrap(library, op, at, key)


def wrap_new(library, ops):
    """Kernels that the program registers through torch.library are wrapped as they come.

    Where calls of an operator that the program defines land at a backend fallback (`ops`: at which keys they landed in the first run), a wrapper
    stands at that very key, and would hide a kernel that the program registers at an alias later: it is taken back before each registration."""
    import torch
    impl = torch.library.Library.impl

    def wrapped(self, op_name, fn, dispatch_key="", **kw):
        op = op_name
        if not isinstance(op, str):
            overload = op_name._overloadname
            op = op_name._schema.name + ("" if overload == "default" else "." + overload)
        if "::" not in op:
            op = self.ns + "::" + op
        name, _, overload = op.partition(".")
        library.oracle_release(name.encode(), overload.encode())
        result = impl(self, op_name, fn, dispatch_key, **kw)
        only = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        for key, at, provenance in slots(op):
            if at == only:
                wrap(library, op, at, key)
                break
        for key, at, provenance in slots(op):
            if provenance == "backend fallback" and key in ops.get(op, ()):
                wrap(library, op, at, key, loose=True)
        return result

    torch.library.Library.impl = wrapped


def follow_threads(library):
    """Threads that Python starts are recorded too."""
    run = threading.Thread.run

    def recorded(self):
        library.oracle_mode(1)
        try:
            run(self)
        finally:
            library.oracle_mode(0)

    threading.Thread.run = recorded


def step_aside(library):
    """While the Python dispatcher is on, only hops are seen: it takes the highest key left below its own, and must not find the oracle's."""
    import torch
    original = torch._C._EnablePythonDispatcher

    class Aside:
        """The original enables when it is made, not when it is entered, and so does this."""

        def __init__(self):
            self.was = library.oracle_aside(0)
            self.guard = original()

        def __enter__(self):
            return self.guard.__enter__()

        def __exit__(self, *raised):
            result = self.guard.__exit__(*raised)
            library.oracle_aside(self.was)
            return result

    torch._C._EnablePythonDispatcher = Aside
    for module in list(sys.modules.values()):
        if getattr(module, "enable_python_dispatcher", None) is original:
            module.enable_python_dispatcher = Aside


def child(program, out, ops, arguments):
    """Runs the program in this process, which has imported torch already, and writes the rows. Doesn't return."""
    library = ctypes.CDLL(build())
    if ops is not None:
        wrap_all(library, ops)
        wrap_new(library, ops)
    with open(program) as f:
        code = compile(f.read(), program, "exec")
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    follow_threads(library)
    step_aside(library)
    library.oracle_mode(1)
    status = 0
    try:
        exec(code, {"__name__": "__main__", "__file__": program, "__builtins__": __builtins__})
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:  # noqa: the program's own end, whatever it is
        library.oracle_mode(0)
        sys.excepthook(*sys.exc_info())
        status = 1
    library.oracle_mode(0)
    library.oracle_dump(out.encode())
    library.oracle_names((out + ".names").encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # not into the destructors of statics with our wrappers in place


def main(argv):
    hops = argv[:1] == ["--hops"]
    program, out, *arguments = argv[1:] if hops else argv
    environment = dict(os.environ, OMP_NUM_THREADS="1", KINETO_LOG_LEVEL="5", TORCH_CPP_LOG_LEVEL="ERROR")

    def run(ops):
        if "TORCHINDUCTOR_CACHE_DIR" in os.environ:  # the second run must not find what the first one compiled
            environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "calls" if ops is None else "hops")
        with open(out + ".ops", "w") as f:
            json.dump(ops, f)
        return subprocess.call([sys.executable, os.path.abspath(__file__), "--child", program, out, *arguments], env=environment)

    status = run(None)
    if hops and os.path.exists(out):
        with open(out + ".names") as f:
            ops = {name: {} for name in f.read().split()}
        with open(out) as f:
            for row in json.load(f):
                ops.setdefault(row["op"], {})[row["key"]] = True
        status = run({op: sorted(keys) for op, keys in sorted(ops.items())})
    for suffix in (".ops", ".names"):
        if os.path.exists(out + suffix):
            os.remove(out + suffix)
    return status


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        import torch  # noqa: before the program, so that only its own calls are seen
        with open(sys.argv[3] + ".ops") as wanted:
            child(sys.argv[2], sys.argv[3], json.load(wanted), sys.argv[4:])
    sys.exit(main(sys.argv[1:]))
