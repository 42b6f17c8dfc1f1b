"""What a thread that stands at a breakpoint can be asked about Python, on both engines. Bounded; no operator of the program's runs."""
import contextlib
import os
import reprlib
import sys
import threading
import types


def answers(torch):
    """(locals, threads): functions that give rows, tuples of str."""
    library = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep, os.path.dirname(os.__file__) + os.sep, os.path.dirname(__file__) + os.sep, "<frozen")

    class Short(reprlib.Repr):
        def __init__(self):
            super().__init__()
            self.maxlevel = 3
            self.maxstring = self.maxother = 200
            self.maxlist = self.maxtuple = self.maxdict = self.maxset = 8

        def repr1(self, x, level):
            try:
                if isinstance(x, torch.Tensor):
                    size = "[%s]" % ",".join(map(str, x.shape)) if str(x.layout) in ("torch.strided", "torch.sparse_coo") else ""
                    more = ", requires_grad" if x.requires_grad else ""
                    return "%s %s%s on %s%s" % (type(x).__name__, str(x.dtype).replace("torch.", ""), size, x.device, more)
                if isinstance(x, torch.nn.Module):
                    return "%s(...)" % type(x).__name__
                return super().repr1(x, level)
            except Exception as e:
                return "<%s: its repr raised %s>" % (type(x).__name__, type(e).__name__)

    short = Short()
    quiet = getattr(torch._C, "DisableTorchFunction", contextlib.nullcontext)

    def own(frame):
        name = frame.f_code.co_filename
        return not name.startswith(library) and not any(part in name for part in library[:2])

    def place(frame):
        return "%s:%d %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)

    def locals_():
        rows, frame, calls = [], sys._getframe(1), 0
        while frame is not None and calls < 4:
            if own(frame):
                calls += 1
                rows.append((place(frame),))
                for name, value in list(frame.f_locals.items())[:200]:
                    if isinstance(value, types.ModuleType) or (name.startswith("__") and name.endswith("__")):
                        continue
                    with quiet():
                        text = short.repr(value)
                    rows.append((str(name), type(value).__name__, " ".join(text[:500].split())))
            frame = frame.f_back
        return rows

    def threads():
        known = {t.ident: t for t in threading.enumerate()}
        rows = []
        for ident, frame in sys._current_frames().items():
            t = known.get(ident)
            if ident == threading.get_ident():  # the first frame is this function's
                frame = frame.f_back
            inner = frame
            while inner is not None and not own(inner):
                inner = inner.f_back
            rows.append((str(t.native_id) if t else "0", t.name if t else "?", place(inner or frame) if frame else "no Python"))
        return rows

    return locals_, threads
