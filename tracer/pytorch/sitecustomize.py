"""Loads Peel's agent when the program has imported torch. On PYTHONPATH of a recorded program, else unused.

Nothing happens before `import torch` returns, and nothing that fails here stops the program: it then runs
unrecorded, with one line on stderr.
"""
import os
import sys


def _chain(here):
    """Runs the sitecustomize that this file hides, if there is one."""
    sys.path[:] = [p for p in sys.path if p != here]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        if mine is not None:
            sys.modules["sitecustomize"] = mine


def _attach(torch, agent_path):
    import importlib.machinery
    import importlib.util
    import os
    loader = importlib.machinery.ExtensionFileLoader("peel_agent", agent_path)
    agent = importlib.util.module_from_spec(importlib.util.spec_from_loader("peel_agent", loader))
    loader.exec_module(agent)
    why_not = agent.attach(os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] else sys.executable), torch.__version__)
    if why_not:
        return why_not
    agent.fact("python", sys.version.split()[0])
    agent.fact("torch_git_version", getattr(torch.version, "git_version", None) or "")
    agent.fact("torch_cuda", torch.version.cuda or "")
    lists = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "torchgen", "packaged")
    if os.path.isdir(lists):
        agent.fact("operator_lists", lists)
    _answer_questions(torch, agent)
    _follow_registrations(torch, agent)
    _follow_modules(torch, agent)
    _follow_backward(torch, agent)
    _follow_saved(agent, os.path.dirname(agent_path))
    _follow_cuda(torch, agent, os.path.dirname(agent_path))
    agent.start()
    return None


def _answer_questions(torch, agent):
    import importlib.util
    spec = importlib.util.spec_from_file_location("peel_questions", os.path.join(os.path.dirname(__file__), "peel_questions.py"))
    questions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(questions)
    agent.answers(*questions.answers(torch))


def _follow_registrations(torch, agent):
    """Kernels that are registered later, from Python or by a library that is loaded, are wrapped too."""
    module = torch._C._DispatchModule

    def after(name, then):
        original = getattr(module, name, None)
        if original is None:
            return

        def method(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            then(args)
            return result
        method.__name__ = method.__qualname__ = name
        setattr(module, name, method)

    def one(args):
        name = args[0] if args and isinstance(args[0], str) and "::" in args[0] else None
        agent.registered(name)

    for name in ("impl", "impl_with_aoti_compile"):
        after(name, one)
    for name in ("fallback", "fallback_fallthrough", "register_ad_inplace_or_view_fallback"):
        after(name, lambda args: agent.registered(None))
    after("reset", lambda args: agent.tables_changed())

    import _imp
    create = _imp.create_dynamic

    def create_dynamic(*args):
        result = create(*args)
        agent.registered(None)
        return result
    _imp.create_dynamic = create_dynamic

    load = torch._ops._Ops.load_library

    def load_library(self, path):
        result = load(self, path)
        agent.registered(None)
        return result
    torch._ops._Ops.load_library = load_library


def _follow_modules(torch, agent):
    """Calls of nn.Modules become spans; classes made later are followed by __init_subclass__."""
    base = torch.nn.Module
    todo, done = [base], set()
    while todo:
        cls = todo.pop()
        if cls in done:
            continue
        done.add(cls)
        agent.patch_module_type(cls)
        todo.extend(type.__subclasses__(cls))
    if "__init_subclass__" not in base.__dict__:
        def __init_subclass__(cls, **kwargs):
            super(base, cls).__init_subclass__(**kwargs)
            agent.patch_module_type(cls)
        base.__init_subclass__ = classmethod(__init_subclass__)


def _follow_backward(torch, agent):
    original = getattr(torch.autograd.graph, "_engine_run_backward", None)
    if original is not None:
        wrapped = agent.in_backward_span(original)
        torch.autograd.graph._engine_run_backward = wrapped
        torch.autograd._engine_run_backward = wrapped


def _part(folder, name):
    """A part of the agent that is a library of its own: (its path, "" or why it isn't there)."""
    import os
    path, text = os.path.join(folder, "peel_%s.so" % name), os.path.join(folder, "%s.txt" % name)
    why = ""
    if not os.path.exists(path):
        why = "it was not built"
        if os.path.exists(text):
            with open(text) as f:
                why = f.read()
    return path, why


def _follow_saved(agent, folder):
    """What autograd nodes save, where values are recorded."""
    import os
    if os.environ.get("PEEL_DETAIL") == "keys":
        return
    path, why = _part(folder, "saved")
    why = why or agent.follow_saved(path)
    agent.fact("saved_tensors", "not recorded: %s" % why if why else "recorded")


def _follow_cuda(torch, agent, folder):
    """CUDA is followed from its initialisation on; at the end what GPUs still do is waited for and reported."""
    if not torch.version.cuda:
        return
    import atexit
    import os
    if os.environ.get("PEEL_DETAIL") == "keys":  # the cheap level: hops alone
        return agent.fact("gpu", "memory and GPUs are not recorded at --detail keys")

    def say(why):
        agent.fact("gpu", why)
        print("peel: %s" % why, file=sys.stderr)

    def begin():
        path, why = _part(folder, "gpu")
        if why:
            return say("GPU memory and kernels are not recorded: %s" % why)
        why = agent.follow_cuda(path)
        if why:
            return say(why)
        atexit.register(end)
        _lend_cupti(torch, agent)

    def end():
        try:
            torch.cuda.synchronize()
        except Exception:  # an earlier error of the GPU: nothing more will come
            pass
        agent.flush_gpu()

    torch.cuda._lazy_call(begin)


def _lend_cupti(torch, agent):
    """CUPTI serves one tool at a time: PyTorch's profiler gets it for as long as it records GPUs."""
    autograd = torch._C._autograd
    lent = []

    def wants_gpu(activities):
        return any("CUDA" in str(a) for a in activities or ())

    def taking(original):
        def function(config, activities, *args, **kwargs):
            if not lent and wants_gpu(activities):
                lent.append(True)
                agent.gpu_activity(False)
                agent.fact("gpu_profiler", "the program used PyTorch's profiler with CUDA: GPU kernels of that time are in its trace, not here")
                print("peel: the program's own profiler takes CUPTI: GPU kernels of that time are in its trace, not in the recording", file=sys.stderr)
            return original(config, activities, *args, **kwargs)
        return function

    def giving(original):
        def function(*args, **kwargs):
            result = original(*args, **kwargs)
            if lent:
                lent.clear()
                agent.gpu_activity(True)
            return result
        return function

    for name, wrap in (("_prepare_profiler", taking), ("_enable_profiler", taking), ("_disable_profiler", giving)):
        original = getattr(autograd, name, None)
        if original is None:
            continue
        wrapped = wrap(original)
        setattr(autograd, name, wrapped)
        for module in ("torch.autograd.profiler", "torch.autograd"):
            if getattr(sys.modules.get(module), name, None) is original:
                setattr(sys.modules[module], name, wrapped)


def _install():
    import os
    here = os.path.dirname(os.path.abspath(__file__))
    agent_path = os.environ.get("PEEL_AGENT")
    if not os.environ.get("PEEL_SOCKET") or not agent_path:
        return _chain(here)

    import importlib.machinery

    class Finder:
        """Finds `torch` as Python would, and learns when its import has returned."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "torch":
                return None
            sys.meta_path.remove(Finder)
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is None or spec.loader is None:
                sys.meta_path.insert(0, Finder)
                return spec
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                try:
                    why_not = _attach(module, agent_path)
                except Exception as e:  # the program must not end because of us
                    why_not = "%s: %s" % (type(e).__name__, e)
                if why_not:
                    print("peel: not recorded: %s" % why_not, file=sys.stderr)
            spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Finder)
    _chain(here)


_install()
