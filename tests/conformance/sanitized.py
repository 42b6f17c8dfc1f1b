"""Runs programs on an embedded engine that was built with sanitizers.

    sanitized.py BUILD [PROGRAM...]

BUILD is a build folder of the preset `asan` (its targets peel_engine and peel_engine_package). Without programs: all of embedded/, its sets of unseen programs
too. Says which ones a sanitizer stopped, with its report, and which ended otherwise than on the engine beside PEEL. Status 1 when there is one of either.
Memory that is still held at the end isn't counted: Python holds much of it. A program that takes more than ten minutes is named as not finished.
"""
import glob
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import harness  # noqa: E402


def engine(build):
    """(the folder of its package, the Python that it is built for)."""
    with open(os.path.join(build, "engine", "about.txt")) as f:
        return os.path.join(build, "engine"), f.read().splitlines()[2]


def run(program, build, preloaded=()):
    package, python = engine(build)
    env = dict(os.environ, PYTHONPATH=package, OMP_NUM_THREADS="1")
    if preloaded:  # Python itself isn't built with them; its own allocator would hide what is freed too early
        env.update(LD_PRELOAD=":".join(preloaded), PYTHONMALLOC="malloc", ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1")
    try:
        done = subprocess.run([python, program], env=env, capture_output=True, text=True, timeout=600, cwd=os.path.dirname(program))
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stderr


def libraries():
    return [subprocess.check_output([os.environ.get("CXX", "g++"), "-print-file-name=" + name], text=True).strip() for name in ("libasan.so", "libubsan.so")]


def main():
    build = os.path.abspath(sys.argv[1])
    programs = [os.path.abspath(p) for p in sys.argv[2:]] or sorted(glob.glob(os.path.join(HERE, "embedded", "**", "*.py"), recursive=True))
    plain, preloaded, failed, late = os.path.dirname(harness.peel()), libraries(), 0, 0

    def both(program):
        return run(program, build, preloaded), run(program, plain)

    with ThreadPoolExecutor(2) as pool:
        for program, ((status, said), (expected, _)) in zip(programs, pool.map(both, programs)):
            name = os.path.relpath(program, HERE)
            if status is None or expected is None:
                late += 1
                print("not finished in time: " + name, flush=True)
            elif "Sanitizer" in said or "runtime error" in said or status != expected:
                failed += 1
                print("FAILED %s: status %s, without sanitizers %s\n%s" % (name, status, expected, said[:4000]), flush=True)
    print("%d programs, %d stopped by a sanitizer or with another status, %d not finished in time" % (len(programs), failed, late))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
