"""What the tests written in Python share: the program under test, the Python that has PyTorch, and how to skip visibly.

    PEEL                 path of the program (default: build/peel of this tree)
    PEEL_TEST_PYTHON     the Python to record with (default: the active virtual environment's, else python3 on the PATH)
    PEEL_REQUIRE_TORCH   1: a missing PyTorch is an error, not a reason to skip
"""
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "assets", "programs")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def peel():
    return os.path.abspath(os.environ.get("PEEL") or os.path.join(ROOT, "build", "peel"))


def python():
    named = os.environ.get("PEEL_TEST_PYTHON")
    if named:
        return named
    active = os.environ.get("VIRTUAL_ENV")
    return os.path.join(active, "bin", "python") if active else shutil.which("python3") or sys.executable


def environment(**more):
    """The environment of every traced program here: one thread, fixed hashing, nothing on stderr that depends on the machine."""
    return dict(os.environ, OMP_NUM_THREADS="1", PYTHONHASHSEED="0", KINETO_LOG_LEVEL="5", TORCH_CPP_LOG_LEVEL="ERROR", PYTHONDONTWRITEBYTECODE="1", **more)


def run(command, timeout=300, input=None, env=None, cwd=None):
    """Runs to the end and returns (status, stdout, stderr); a status below 0 is a signal's, as in subprocess."""
    done = subprocess.run(command, timeout=timeout, input=input, capture_output=True, text=True, env=env or environment(), cwd=cwd,
                          errors="replace", stdin=subprocess.DEVNULL if input is None else None)
    return done.returncode, done.stdout, done.stderr


def torch_version():
    """Of the Python to record with; None = it has no PyTorch."""
    status, out, _ = run([python(), "-c", "import torch; print(torch.__version__, torch.version.git_version)"])
    return out.strip() if status == 0 else None


def need(torch=True, program=True):
    """Ends the test here when it cannot run: status 77 with a sentence, or 1 where that must not happen. Returns PyTorch's version."""
    if program and not os.access(peel(), os.X_OK):
        print("error: %s is no program: build first, or set PEEL" % peel())
        sys.exit(1)
    version = torch_version() if torch else None
    if torch and version is None:
        required = os.environ.get("PEEL_REQUIRE_TORCH") == "1"
        print("%s: %s cannot import torch; set PEEL_TEST_PYTHON to a Python that can" % ("error" if required else "skipped", python()))
        sys.exit(1 if required else SKIPPED)
    return version


def record(path, arguments, options=(), **kw):
    """`peel record`: (status, stdout, stderr)."""
    return run([peel(), "record", "-o", path, "--python", python(), *options, *arguments], **kw)


def wait_until(what, condition, seconds=60):
    """Polls; raises when it took too long."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited %d s in vain: %s" % (seconds, what))
        time.sleep(0.02)
