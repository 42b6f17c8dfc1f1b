// Python's stack at a hop, by the interpreter's public functions: the lock is held.
#include <Python.h>
#include <frameobject.h>

#include <array>

#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

constexpr int kMaxFrames = 200;

struct Place {
  PyCodeObject* code;  // kept alive, so that an address stands for one code object
  int instruction;
  uint32_t parent;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  size_t operator()(const Place& p) const {
    return (reinterpret_cast<uintptr_t>(p.code) >> 4) * 0x9e3779b97f4a7c15ull ^ static_cast<size_t>(p.instruction) * 31 ^ p.parent * 0x85ebca6bull;
  }
};
struct Stacks {
  uint32_t epoch = 0;
  std::unordered_map<Place, uint32_t, PlaceHash> ids;
};

// Of the user's own, or the engine's package and other libraries.
bool is_own(std::string_view file) {
  static const std::string& package = *new std::string([] {
    PyObject* torch = PyImport_GetModule(PyUnicode_FromString("torch"));
    PyObject* file = torch ? PyObject_GetAttrString(torch, "__file__") : nullptr;
    const char* text = file ? PyUnicode_AsUTF8(file) : nullptr;
    if (!text) PyErr_Clear();
    const std::string path = text ? text : "/";
    return path.substr(0, path.rfind('/') + 1);
  }());
  return !wire::is_library_file(file) && !file.starts_with(package);
}

int instruction_of(PyFrameObject* f) {
#if PY_VERSION_HEX >= 0x030b0000
  return PyFrame_GetLasti(f);
#else
  return f->f_lasti;
#endif
}

uint32_t define(const Place& p, int line) {
  static Stacks& stacks = *new Stacks;
  if (stacks.epoch != process_epoch()) stacks = {process_epoch(), {}};
  const auto [it, fresh] = stacks.ids.try_emplace(p, static_cast<uint32_t>(stacks.ids.size() + 1));
  if (!fresh) return it->second;
  Py_INCREF(p.code);
#if PY_VERSION_HEX >= 0x030b0000
  PyObject* function = p.code->co_qualname;
#else
  PyObject* function = p.code->co_name;
#endif
  const auto text = [](PyObject* s) {
    const char* utf8 = s ? PyUnicode_AsUTF8(s) : nullptr;
    if (!utf8) PyErr_Clear();
    return utf8 ? utf8 : "?";
  };
  wire::DefStack d{};
  d.head.kind = wire::DefKind::kStack;
  d.head.id = it->second;
  d.parent = p.parent;
  d.file = intern(text(p.code->co_filename));
  d.function = intern(text(function));
  d.line = static_cast<uint32_t>(std::max(0, line));
  arena().define(d);
  return it->second;
}

}  // namespace

uint32_t python_stack(const void* known, uint32_t known_id, const void** frame) {
  PyFrameObject* f = PyThreadState_GetFrame(PyThreadState_Get());
  *frame = f;
  if (!f || f == known) {
    Py_XDECREF(f);
    return f ? known_id : 0;
  }
  std::array<PyFrameObject*, kMaxFrames> frames;
  int n = 0;
  for (; f && n < kMaxFrames; f = PyFrame_GetBack(f)) frames[n++] = f;
  Py_XDECREF(f);
  uint32_t id = 0;
  while (n-- > 0) {
    PyCodeObject* code = PyFrame_GetCode(frames[n]);
    id = define({code, instruction_of(frames[n]), id}, PyFrame_GetLineNumber(frames[n]));
    Py_DECREF(code);
    Py_DECREF(frames[n]);
  }
  return id;
}

wire::HopView::Place user_place(std::string* file) {
  PyFrameObject* f = PyThreadState_GetFrame(PyThreadState_Get());
  wire::HopView::Place place;
  while (f && place.file.empty()) {
    PyCodeObject* code = PyFrame_GetCode(f);
    const char* name = PyUnicode_AsUTF8(code->co_filename);
    if (!name) PyErr_Clear();
    if (name && is_own(name)) {
      *file = name;
      place = {*file, PyFrame_GetLineNumber(f), reinterpret_cast<uintptr_t>(f), static_cast<uint64_t>(instruction_of(f))};
    }
    Py_DECREF(code);
    PyFrameObject* outer = PyFrame_GetBack(f);
    Py_DECREF(f);
    f = outer;
  }
  Py_XDECREF(f);
  return place;
}

}  // namespace peel::embedded
