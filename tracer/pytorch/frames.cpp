// Python's stack at a hop, read straight from the interpreter's frames.
//
// No GIL is needed: the frames are the current thread's own, and while the thread is inside a kernel they
// stand still. Code objects are compared by address and by two of their fields, so that an address that is
// used again for other code is not taken for the old one.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#endif
#undef Py_BUILD_CORE

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

constexpr size_t kMaxFrames = 200;

#if PY_VERSION_HEX >= 0x030b0000
using PyFrame = _PyInterpreterFrame;
#if PY_VERSION_HEX >= 0x030d0000
inline PyFrame* current(PyThreadState* s) { return s->current_frame; }
#else
inline PyFrame* current(PyThreadState* s) { return s->cframe ? s->cframe->current_frame : nullptr; }
#endif
#if PY_VERSION_HEX >= 0x030e0000
inline PyObject* code_object(PyFrame* f) { return PyStackRef_AsPyObjectBorrow(f->f_executable); }
#elif PY_VERSION_HEX >= 0x030d0000
inline PyObject* code_object(PyFrame* f) { return f->f_executable; }
#else
inline PyObject* code_object(PyFrame* f) { return reinterpret_cast<PyObject*>(f->f_code); }
#endif
inline PyCodeObject* code_of(PyFrame* f) {
  PyObject* o = code_object(f);
  return o && Py_TYPE(o) == &PyCode_Type ? reinterpret_cast<PyCodeObject*>(o) : nullptr;
}
#if PY_VERSION_HEX >= 0x030e0000
inline bool is_python(PyFrame* f) { return f->owner != FRAME_OWNED_BY_INTERPRETER; }
#elif PY_VERSION_HEX >= 0x030c0000
inline bool is_python(PyFrame* f) { return f->owner != FRAME_OWNED_BY_CSTACK; }
#else
inline bool is_python(PyFrame*) { return true; }
#endif
#if PY_VERSION_HEX >= 0x030d0000
inline const void* instruction(PyFrame* f) { return f->instr_ptr; }
#else
inline const void* instruction(PyFrame* f) { return f->prev_instr; }
#endif
inline PyFrame* caller(PyFrame* f) { return f->previous; }
inline int line_of(PyCodeObject* c, const void* at) {
  return PyCode_Addr2Line(c, static_cast<int>(static_cast<const char*>(at) - reinterpret_cast<const char*>(_PyCode_CODE(c))));
}
#else  // 3.10
using PyFrame = PyFrameObject;
inline PyFrame* current(PyThreadState* s) { return s->frame; }
inline PyCodeObject* code_of(PyFrame* f) { return f->f_code; }
inline bool is_python(PyFrame*) { return true; }
inline const void* instruction(PyFrame* f) { return reinterpret_cast<const void*>(static_cast<uintptr_t>(f->f_lasti)); }
inline PyFrame* caller(PyFrame* f) { return f->f_back; }
inline int line_of(PyCodeObject* c, const void* at) { return PyCode_Addr2Line(c, static_cast<int>(reinterpret_cast<uintptr_t>(at)) * 2); }
#endif

inline const void* check_of(PyCodeObject* c) {
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(c->co_filename) ^ reinterpret_cast<uintptr_t>(c->co_name) * 3 ^ static_cast<uintptr_t>(c->co_firstlineno) << 40);
}

/// The text of a str, without the GIL and without changing it (no cached UTF-8).
std::string text_of(PyObject* s) {
  std::string r;
  if (!s || !PyUnicode_Check(s)) return "?";
  const Py_ssize_t n = PyUnicode_GET_LENGTH(s);
  const int kind = PyUnicode_KIND(s);
  const void* data = PyUnicode_DATA(s);
  for (Py_ssize_t i = 0; i < n; i++) {
    const Py_UCS4 c = PyUnicode_READ(kind, data, i);
    if (c < 0x80) r += static_cast<char>(c);
    else if (c < 0x800) r += static_cast<char>(0xc0 | c >> 6), r += static_cast<char>(0x80 | (c & 63));
    else if (c < 0x10000) r += static_cast<char>(0xe0 | c >> 12), r += static_cast<char>(0x80 | (c >> 6 & 63)), r += static_cast<char>(0x80 | (c & 63));
    else r += static_cast<char>(0xf0 | c >> 18), r += static_cast<char>(0x80 | (c >> 12 & 63)), r += static_cast<char>(0x80 | (c >> 6 & 63)), r += static_cast<char>(0x80 | (c & 63));
  }
  return r;
}

uint32_t define_frame(Thread* t, uint32_t parent, PyCodeObject* code, const void* at) {
  const void* check = check_of(code);
  auto& c = t->stacks[(reinterpret_cast<uintptr_t>(code) >> 5 ^ reinterpret_cast<uintptr_t>(at) ^ parent * 97ull) % kStackCache];
  if (c.id && c.code == code && c.instruction == at && c.check == check && c.parent == parent) return c.id;
  const std::string file = text_of(code->co_filename);
#if PY_VERSION_HEX >= 0x030b0000
  const std::string function = text_of(code->co_qualname);
#else
  const std::string function = text_of(code->co_name);
#endif
  const uint32_t id = intern_stack(parent, file, function, static_cast<uint32_t>(std::max(0, line_of(code, at))));
  c = {code, at, check, parent, id};
  return id;
}

}  // namespace

void* python_frame(Thread* t) {
  if (!t->python_state) t->python_state = PyGILState_GetThisThreadState();
  auto* s = static_cast<PyThreadState*>(t->python_state);
  if (!s) return nullptr;
  PyFrame* f = current(s);
  while (f && !is_python(f)) f = caller(f);
  return f;
}

UserPlace user_place(Thread* t) {
  for (auto* f = static_cast<PyFrame*>(python_frame(t)); f; f = caller(f)) {
    PyCodeObject* code = is_python(f) ? code_of(f) : nullptr;
    if (!code) continue;
    const void* check = check_of(code);
    auto& file = t->files[(reinterpret_cast<uintptr_t>(code) >> 5) % std::size(t->files)];
    if (file.code != code || file.check != check) {
      const std::string path = text_of(code->co_filename);
      file = {code, check, path, !wire::is_library_file(path)};
    }
    if (file.own) return {file.path, line_of(code, instruction(f)), f, instruction(f)};
  }
  return {};
}

uint32_t python_stack(Thread* t, void* innermost) {
  struct Here { PyCodeObject* code; const void* at; };
  Here here[kMaxFrames];
  size_t n = 0;
  for (auto* f = static_cast<PyFrame*>(innermost); f && n < kMaxFrames; f = caller(f))
    if (is_python(f)) if (PyCodeObject* c = code_of(f)) here[n++] = {c, instruction(f)};
  uint32_t id = 0;
  // outermost first; what is as it was at the last hop keeps its ids
  size_t depth = 0;
  bool same = true;
  auto& chain = t->chain;
  for (size_t i = n; i-- > 0; depth++) {
    const void* check = check_of(here[i].code);
    if (same && depth < chain.size() && chain[depth].code == here[i].code && chain[depth].instruction == here[i].at && chain[depth].check == check) {
      id = chain[depth].id;
      continue;
    }
    same = false;
    id = define_frame(t, id, here[i].code, here[i].at);
    if (depth < chain.size()) chain[depth] = {here[i].code, here[i].at, check, id};
    else chain.push_back({here[i].code, here[i].at, check, id});
  }
  chain.resize(n);
  return id;
}

}  // namespace peel::agent
