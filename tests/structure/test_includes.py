"""Who may know whom: the includes of every source file, against docs/design.md, section 2."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Folder -> what of our own it may include, beside itself. A longer folder is looked at first.
MAY = {
    "core/python": ("core", "kernels", "ops_generated"),
    "core": ("ops_generated",),
    "kernels": ("core", "ops_generated"),
    "tracer/wire": (),
    "tracer/launch": ("tracer/wire", "sessions/result.h"),
    "tracer/pytorch": ("tracer/wire", "tracer/cupti"),
    "tracer/cupti": ("tracer/wire",),
    "tracer/embedded": ("tracer/wire", "core", "kernels"),
    "sessions": ("tracer/wire", "core/dispatch/rules.h"),
    "views": ("sessions",),
    "app": ("core", "kernels", "tracer", "sessions", "views"),
    "tests": ("core", "kernels", "tracer", "sessions", "views", "app", "ops_generated"),
}
OWN = re.compile(r"(?:core|kernels|tracer|sessions|views|app|tests|ops_generated)/")
# Third-party header -> the folders that may include it.
ONLY_IN = {
    r"sqlite3\.h$": ("sessions", "tests"),
    r"(im|misc/.*im)gui|imgui_": ("views", "app", "tests"),
    r"^GLFW/": ("app",),
    r"^CLI/": ("app",),
    r"^nanobind/|^Python\.h$": ("core/python", "tracer/embedded", "tracer/pytorch"),
    r"^(torch|ATen|c10)/": ("tracer/pytorch", "tracer/cupti", "tests"),
    r"^cupti|^cuda": ("tracer/cupti",),
}
# core/dispatch/rules.h is the sessions' too: it may bring nothing along.
STD_ONLY = ("core/dispatch/rules.h",)
ENTRIES = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "dev", "docs", "core", "kernels", "tracer", "sessions", "views", "app", "tests", "assets"}


def tracked():
    if not os.path.exists(os.path.join(ROOT, ".git")):
        print("skipped: this tree is no git checkout")
        sys.exit(77)
    return subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def includes(path):
    with open(os.path.join(ROOT, path)) as source:
        for number, line in enumerate(source, 1):
            found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if found:
                yield number, found[1]


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def forbidden(path, header):
    """Why `path` may not include `header`, or None."""
    if path in STD_ONLY and "/" in header:
        return "may include the standard library only"
    if OWN.match(header):
        home = next(folder for folder in sorted(MAY, key=len, reverse=True) if within(path, folder))
        if not within(header, home) and not any(within(header, folder) for folder in MAY[home]):
            return "%s may include %s" % (home, ", ".join(MAY[home]) or "nothing but the standard library")
    for pattern, folders in ONLY_IN.items():
        if re.search(pattern, header) and not OWN.match(header) and not any(within(path, folder) for folder in folders):
            return "only %s may" % ", ".join(folders)
    return None


class Structure(unittest.TestCase):
    def test_includes(self):
        sources = [f for f in tracked() if f.endswith((".h", ".cpp"))]
        self.assertGreater(len(sources), 300)
        wrong = ["%s:%d includes %s: %s" % (path, line, header, why) for path in sources for line, header in includes(path)
                 if (why := forbidden(path, header))]
        self.assertEqual(wrong, [])

    def test_what_is_forbidden(self):
        for path, header in (("views/trace.cpp", "core/dispatch/rules.h"), ("views/trace.cpp", "tracer/wire/wire.h"), ("views/trace.cpp", "sqlite3.h"), ("sessions/why.cpp", "imgui.h"),
                             ("sessions/why.cpp", "core/dispatch/library.h"), ("core/autograd/node.h", "kernels/load.h"), ("tracer/wire/ring.h", "sessions/result.h"),
                             ("core/dispatch/rules.h", "core/dispatch/kernel.h"), ("sessions/x.h", "views/pen.h")):
            self.assertIsNotNone(forbidden(path, header), (path, header))
        for path, header in (("sessions/precedence.h", "core/dispatch/rules.h"), ("views/trace.cpp", "imgui.h"), ("app/main.cpp", "views/pen.h"), ("core/python/module.h", "kernels/load.h")):
            self.assertIsNone(forbidden(path, header), (path, header))

    def test_top_level(self):
        entries = {f.split("/")[0] for f in tracked()}
        self.assertEqual({e for e in entries if not e.startswith(".")} - ENTRIES, set())


if __name__ == "__main__":
    unittest.main()
