"""Writes the generated parts of the agent for an installed PyTorch, and how to build them.

    generate.py --torch FOLDER --out FOLDER --root FOLDER --parts N

Reads the operator headers of that PyTorch (ATen/ops/*_ops.h) for names and C++ signatures, writes part<i>.cpp with
one Thunk per distinct signature, saved_table.cpp with the fields in which autograd nodes keep tensors, and build.json:
{"sources": [...], "flags": [...], "link": [...], "gpu": [...], "saved": [...], "library": "..."}.
Imports nothing of PyTorch. Ends with status 1 and one sentence when the headers are not there.
"""
import argparse
import ctypes
import glob
import json
import os
import re
import sys
import sysconfig

STRUCT = re.compile(
    r"struct TORCH_API (\w+) \{\s*using schema = (.*?);\s.*?"
    r"name = \"([^\"]*)\";.*?overload_name = \"([^\"]*)\";", re.S)
# Older headers declare the names by a macro or as const char* with other words between; STRUCT covers 2.11 and later.

JSON_SHIM = """#pragma once
#include <string>
namespace nlohmann {
struct json {
  json() = default;
  template <class T> explicit json(const T&) {}
  std::string dump() const { return ""; }
  static json parse(const std::string&) { return json(); }
  template <class T> T get() const { throw 0; }
};
}
"""


def operators(include):
    for path in sorted(glob.glob(os.path.join(include, "ATen", "ops", "*_ops.h"))):
        with open(path) as f:
            yield from STRUCT.findall(f.read())


def cxx_library():
    """The C++ library that PyTorch runs with. Named before the compiler's own, which may be a static archive: two of
    them in one process don't agree about streams and exceptions."""
    try:
        ctypes.CDLL("libstdc++.so.6")
        with open("/proc/self/maps") as f:
            paths = {line.split()[-1] for line in f if "/libstdc++.so" in line}
    except OSError:
        return []
    return sorted(paths)[:1]


def gpu_part(torch, root, out):
    """(arguments that make peel_gpu.so or [], why there are none). PyTorch's version.py says whether it was built with CUDA."""
    try:
        with open(os.path.join(torch, "version.py")) as f:
            version = f.read()
    except OSError:
        version = ""
    if not re.search(r"^cuda.*= '", version, re.M):
        return [], "this PyTorch was built without CUDA"
    packages = os.path.dirname(torch)
    # The wheels' own headers first; a toolkit or Triton has those that the wheels leave out.
    folders = sorted(glob.glob(os.path.join(packages, "nvidia", "*", "include")))
    folders += [os.path.join(os.environ[k], "include") for k in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(k)]
    folders += ["/usr/local/cuda/include", "/usr/local/cuda/extras/CUPTI/include", os.path.join(packages, "triton", "backends", "nvidia", "include")]
    folders = [f for f in folders if os.path.isdir(f)]
    for header in ("cuda_runtime_api.h", "crt/host_defines.h", "cupti.h"):
        if not any(os.path.exists(os.path.join(f, header)) for f in folders):
            return [], "%s is nowhere: install CUDA's headers (a CUDA toolkit, or the wheels that PyTorch names) and record again with an empty cache" % header
    own = os.path.join(out, "gpu.cpp")
    with open(own, "w") as f:
        for name in sorted(os.path.basename(p) for p in glob.glob(os.path.join(root, "tracer", "cupti", "*.cpp"))):
            f.write('#include "tracer/cupti/%s"\n' % name)
    lib = os.path.join(torch, "lib")
    return (["-shared", "-O2", "-std=c++20", "-fPIC", "-fvisibility=hidden", "-w", "-DNDEBUG", "-I" + root, "-isystem", os.path.join(torch, "include")] +
            [x for f in folders for x in ("-isystem", f)] + [own, "-L" + lib, "-lc10_cuda", "-lc10", "-ldl", "-Wl,-rpath," + lib] + cxx_library()), ""


NODE = re.compile(r"^struct (?:TORCH\w+ )?(\w+)(?: final)? : public (?:Node|TraceableFunction) \{", re.M)
SAVED = re.compile(r"^  (SavedVariable|std::vector<SavedVariable>) (\w+);", re.M)
NAMESPACES = re.compile(r"^(?:namespace [\w:]+ \{\s*)+", re.M)  # one after another, also on one line


def node_classes(include):
    """{mangled name: (qualified name, [(field, is a list)])} of the node classes in PyTorch's headers, in order."""
    found = {}
    folder = os.path.join(include, "torch", "csrc", "autograd")
    for path in [os.path.join(folder, "generated", "Functions.h")] + sorted(glob.glob(os.path.join(folder, "functions", "*.h"))):
        if not os.path.exists(path):
            continue
        with open(path) as f:
            text = f.read()
        nodes = list(NODE.finditer(text))
        for i, node in enumerate(nodes):
            opened = NAMESPACES.findall(text, 0, node.start())[-1]
            names = [n for part in re.findall(r"namespace ([\w:]+)", opened) for n in part.split("::")] + [node.group(1)]
            body = text[node.end():nodes[i + 1].start() if i + 1 < len(nodes) else len(text)]
            # A class is declared twice, for Windows without its body.
            fields = [(name, kind != "SavedVariable") for kind, name in SAVED.findall(body)]
            found["N%sE" % "".join("%d%s" % (len(n), n) for n in names)] = ("::".join(names), fields)
    return found


def saved_part(include, root, out, flags):
    """The arguments that make peel_saved.so: the table of tracer/pytorch/saved.h. Nothing of PyTorch is linked."""
    fields, classes = [], []
    for mangled, (name, saved) in node_classes(include).items():
        classes.append('  {"%s", fields + %d, %d},\n' % (mangled, len(fields), len(saved)))
        for field, is_list in saved:
            getter = "_saved_" + (field[:-1] if field.endswith("_") else field)
            fields.append('  {"%s", PEEL_OFFSET(%s, %s), %s},\n' % (getter, name, field, "true" if is_list else "false"))
    path = os.path.join(out, "saved_table.cpp")
    with open(path, "w") as f:
        f.write("""// Generated.
#include <torch/csrc/autograd/generated/Functions.h>
#include "tracer/pytorch/saved.h"
namespace peel::agent {
template <class N, class F>
static uint32_t offset(F N::*field) {
  const N* n = reinterpret_cast<const N*>(4096);
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&(n->*field)) - reinterpret_cast<uintptr_t>(static_cast<const torch::autograd::Node*>(n)));
}
#define PEEL_OFFSET(N, F) offset(&N::F)
static const SavedField fields[] = {
%s};
static const SavedClass classes[] = {
%s};
extern "C" __attribute__((visibility("default"))) const SavedTable peel_saved_table = {classes, %d};
}
""" % ("".join(fields), "".join(classes), len(classes)))
    return ["-shared"] + flags + [path]


def split(items, n):
    size = (len(items) + n - 1) // n
    return [items[i * size:(i + 1) * size] for i in range(n)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--torch", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--root", required=True, help="folder that holds tracer/")
    p.add_argument("--parts", type=int, default=4)
    a = p.parse_args()
    include = os.path.join(a.torch, "include")
    ops = list(operators(include))
    if len(ops) < 1000:
        sys.exit("The PyTorch in %s has no operator headers (found %d): reinstall it, or use a release wheel." % (a.torch, len(ops)))
    by_signature = {}
    for struct, signature, name, overload in ops:
        by_signature.setdefault(signature, []).append((name, overload, struct))
    sources = []
    for i, part in enumerate(split(sorted(by_signature), a.parts)):
        path = os.path.join(a.out, "part%d.cpp" % i)
        with open(path, "w") as f:
            f.write('// Generated.\n#include "tracer/pytorch/thunk.h"\nnamespace peel::agent {\n')
            for j, signature in enumerate(part):
                f.write("using S%d = Thunk<%s>;\n" % (j, signature))
            f.write("static const TypedThunks all[] = {\n")
            for j, signature in enumerate(part):
                for name, overload, struct in by_signature[signature]:
                    f.write('  {"%s", "%s", "%s", S%d::unboxed(), S%d::symint(), &S%d::matches},\n' % (name, overload, struct, j, j, j))
            f.write("};\nstatic const RegisterThunks part(all, sizeof all / sizeof *all);\n}\n")
        sources.append(path)
    # ATen/functorch/Interpreter.h uses this library in functions that the agent never calls; wheels don't ship it.
    shim = os.path.join(a.out, "shim", "nlohmann")
    os.makedirs(shim, exist_ok=True)
    with open(os.path.join(shim, "json.hpp"), "w") as f:
        f.write(JSON_SHIM)
    # The agent's own files as one: PyTorch's headers are read once instead of eight times. frames.cpp wants to be first.
    own = os.path.join(a.out, "agent.cpp")
    names = sorted(os.path.basename(f) for f in glob.glob(os.path.join(a.root, "tracer", "pytorch", "*.cpp")))
    with open(own, "w") as f:
        for name in sorted(names, key=lambda n: n != "frames.cpp"):
            f.write('#include "tracer/pytorch/%s"\n' % name)
    lib = os.path.join(a.torch, "lib")
    includes = [include, os.path.join(include, "torch", "csrc", "api", "include")]
    flags = ["-O2", "-std=c++20", "-fPIC", "-fno-access-control", "-fvisibility=hidden", "-w", "-DNDEBUG",
             "-I" + a.root, "-I" + sysconfig.get_paths()["include"]]
    flags += [x for d in includes + [os.path.dirname(shim)] for x in ("-isystem", d)]
    gpu, why_not = gpu_part(a.torch, a.root, a.out)
    if why_not:
        with open(os.path.join(a.out, "gpu.txt"), "w") as f:
            f.write(why_not)
    json.dump({"gpu": gpu, "saved": saved_part(include, a.root, a.out, flags), "sources": [own] + sources, "flags": flags,
               "link": ["-shared", "-L" + lib, "-ltorch_cpu", "-lc10", "-ltorch_python", "-ldl", "-Wl,-rpath," + lib] + cxx_library() + ["-Wl,--exclude-libs,libstdc++.a"],
               "library": os.path.join(a.out, "peel_agent.so")}, open(os.path.join(a.out, "build.json"), "w"), indent=1)


if __name__ == "__main__":
    main()
