// The agent as a Python extension module: what sitecustomize.py calls, and the spans that need Python
// (nn.Module calls, backward calls). All of it runs with the GIL.
#include <Python.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/version.h>

#include <string>

#include "tracer/cupti/bridge.h"
#include "tracer/pytorch/agent.h"

namespace peel::agent {

Thread* spanning_thread() {
  if (g_detail.load(std::memory_order_relaxed) != kStandard) return nullptr;
  Thread* t = this_thread();
  return t && t->process_epoch == g_process_epoch ? t : nullptr;
}

namespace {

void begin_span(Thread* t, wire::SpanKind kind, uint32_t name, uint32_t detail, const void* object) {
  const uint32_t stack = python_stack(t, python_frame(t));
  put_timed(t, wire::SpanBegin{{wire::RecordKind::kSpanBegin, 0, name}, 0, kind, detail, reinterpret_cast<uintptr_t>(object), stack, 0});
}
void end_span(Thread* t) { put_timed(t, wire::SpanEnd{{wire::RecordKind::kSpanEnd, 0, 0}, 0}); }

// ---- nn.Module calls. The type's call slot is replaced, not its `__call__`: nothing that looks at the
// module (torch.compile's tracing among it) sees a difference.

ternaryfunc g_module_call = nullptr;  // what every patched type had: CPython's slot for a Python `__call__`
PyObject* g_modules = nullptr;        // `_modules`, interned

struct OpenModule { PyObject* object; std::string name; };
thread_local std::vector<OpenModule> tl_modules;

/// `net.0` for a child of `net`; the variable's name for an outermost module; else "".
std::string module_name(PyObject* self) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  for (size_t i = tl_modules.size(); i-- > 0;) {
    PyObject** dict = _PyObject_GetDictPtr(tl_modules[i].object);
    PyObject* children = dict && *dict ? PyDict_GetItemWithError(*dict, g_modules) : nullptr;
    if (!children || !PyDict_Check(children)) continue;
    for (at = 0; PyDict_Next(children, &at, &key, &value);)
      if (value == self && PyUnicode_Check(key)) {
        const char* text = PyUnicode_AsUTF8(key);
        const std::string& outer = tl_modules[i].name;
        return outer.empty() ? text : outer + "." + text;
      }
  }
  if (tl_modules.empty()) {
    PyObject* globals = PyEval_GetGlobals();
    for (at = 0; globals && PyDict_Next(globals, &at, &key, &value);)
      if (value == self && PyUnicode_Check(key)) return PyUnicode_AsUTF8(key);
  }
  return "";
}

PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  Thread* t = spanning_thread();
  if (!t) return g_module_call(self, args, kwargs);
  PyErr_Clear();
  std::string name = module_name(self);
  begin_span(t, wire::SpanKind::kModule, intern(name), intern(_PyType_Name(Py_TYPE(self))), self);
  tl_modules.push_back({self, std::move(name)});
  PyObject* r = g_module_call(self, args, kwargs);
  tl_modules.pop_back();
  if (tl_thread == t) end_span(t);
  return r;
}

PyObject* patch_module_type(PyObject*, PyObject* type) {
  if (!PyType_Check(type)) return PyErr_SetString(PyExc_TypeError, "a type"), nullptr;
  auto* t = reinterpret_cast<PyTypeObject*>(type);
  if (!g_module_call) g_module_call = t->tp_call;
  if (t->tp_call == g_module_call) t->tp_call = &module_call;  // types with a call of their own in C stay as they are
  Py_RETURN_NONE;
}

// ---- a callable that puts a span around another one

struct SpanCallable {
  PyObject_HEAD
  PyObject* inner;
  uint32_t kind;
};
PyObject* span_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  auto* s = reinterpret_cast<SpanCallable*>(self);
  Thread* t = spanning_thread();
  if (t) begin_span(t, static_cast<wire::SpanKind>(s->kind), intern("backward"), 0, nullptr);
  PyObject* r = PyObject_Call(s->inner, args, kwargs);
  if (t && tl_thread == t) end_span(t);
  return r;
}
PyObject* span_getattr(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(reinterpret_cast<SpanCallable*>(self)->inner, name);  // looks like the function it stands for
}
PyTypeObject* span_type() {
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&span_call)}, {Py_tp_getattro, reinterpret_cast<void*>(&span_getattr)}, {0, nullptr}};
  static PyType_Spec spec = {"peel.span", sizeof(SpanCallable), 0, Py_TPFLAGS_DEFAULT, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}
PyObject* in_backward_span(PyObject*, PyObject* function) {
  auto* s = PyObject_New(SpanCallable, span_type());
  if (!s) return nullptr;
  Py_INCREF(function);
  s->inner = function;
  s->kind = static_cast<uint32_t>(wire::SpanKind::kBackward);
  return reinterpret_cast<PyObject*>(s);
}

// ---- set-up

/// attach(process_name) -> None, or a sentence saying why nothing is recorded.
PyObject* attach(PyObject*, PyObject* args) {
  const char *name = "", *version = "";
  if (!PyArg_ParseTuple(args, "ss", &name, &version)) return nullptr;
  const std::string built = TORCH_VERSION, running = version;
  if (running.compare(0, built.size(), built) != 0)
    return PyUnicode_FromFormat("the agent was built for PyTorch %s, but this is %s", built.c_str(), version);
  std::string why;
  try {
    why = self_test();
  } catch (const std::exception& e) {
    why = e.what();
    why.resize(std::min(why.find('\n'), why.size()));
  }
  if (!why.empty()) return PyUnicode_FromFormat("the agent's self-test failed, so nothing was wrapped: %s", why.c_str());
  if (!connect_to_peel(name, &why)) return PyUnicode_FromFormat("%s", why.c_str());
  define_keys();
  const std::string numbers = wrap_all();
  fact("engine", "pytorch");
  fact("engine_version", version);
  fact("wrapped", numbers);
  install_backward_callback();
  follow_cpu_allocator();
  follow_modes();
  Py_RETURN_NONE;
}
PyObject* start(PyObject*, PyObject*) {
  start_recording();
  Py_RETURN_NONE;
}
PyObject* stop(PyObject*, PyObject*) {
  stop_recording();
  Py_RETURN_NONE;
}
PyObject* registered(PyObject*, PyObject* name) {  // registered(operator or None)
  const char* text = name == Py_None ? "" : PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  wrap_new(text);
  Py_RETURN_NONE;
}
PyObject* answers(PyObject*, PyObject* args) {
  PyObject *locals = nullptr, *threads = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &locals, &threads)) return nullptr;
  set_questions(locals, threads);
  Py_RETURN_NONE;
}
PyObject* tables_changed(PyObject*, PyObject*) {
  g_epoch.fetch_add(1);
  Py_RETURN_NONE;
}
PyObject* put_fact(PyObject*, PyObject* args) {
  const char *key, *value;
  if (!PyArg_ParseTuple(args, "ss", &key, &value)) return nullptr;
  fact(key, value);
  Py_RETURN_NONE;
}

/// What a part of the agent answered: None, or why it could not be done.
PyObject* asked(const char* why) {
  if (why) return PyUnicode_FromString(why);
  Py_RETURN_NONE;
}
PyObject* follow_cuda(PyObject*, PyObject* path) {
  const char* text = PyUnicode_AsUTF8(path);
  if (!text) return nullptr;
  if (const char* why = load_gpu_part(text)) return asked(why);
  const char* memory = gpu_part()->follow_allocator();
  if (memory) fact("memory", memory);
  return asked(gpu_part()->start_activity());
}
PyObject* follow_saved(PyObject*, PyObject* path) {
  const char* text = PyUnicode_AsUTF8(path);
  return text ? asked(load_saved_part(text)) : nullptr;
}
PyObject* gpu_activity(PyObject*, PyObject* on) {
  if (!gpu_part()) Py_RETURN_NONE;
  const char* why = nullptr;
  const bool start = PyObject_IsTrue(on) == 1;
  Py_BEGIN_ALLOW_THREADS
  if (start) why = gpu_part()->start_activity();
  else gpu_part()->stop_activity();
  Py_END_ALLOW_THREADS
  return asked(why);
}
PyObject* flush_gpu(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS
  if (gpu_part()) gpu_part()->flush();
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

PyMethodDef kMethods[] = {
    {"follow_saved", &follow_saved, METH_O, "follow_saved(library): what nodes save is recorded from now on. None, or why not."},
    {"follow_cuda", &follow_cuda, METH_O, "follow_cuda(library): CUDA was initialised; its allocator and activity are recorded from now on. None, or why not."},
    {"gpu_activity", &gpu_activity, METH_O, "gpu_activity(on): takes CUPTI, or gives it back to another tool."},
    {"flush_gpu", &flush_gpu, METH_NOARGS, "Reports what GPUs have done by now."},
    {"attach", &attach, METH_VARARGS, "attach(process_name, torch_version): tests, connects, wraps. None, or why not."},
    {"start", &start, METH_NOARGS, "Recording begins."},
    {"stop", &stop, METH_NOARGS, "Recording ends; wrappers stay and do nothing."},
    {"registered", &registered, METH_O, "Kernels were registered for that operator (None: somewhere): wraps them."},
    {"answers", &answers, METH_VARARGS, "answers(locals, threads): what answers questions about Python while a thread stands."},
    {"tables_changed", &tables_changed, METH_NOARGS, "Registrations were removed: tables are looked at again."},
    {"patch_module_type", &patch_module_type, METH_O, "Calls of this nn.Module type become spans."},
    {"in_backward_span", &in_backward_span, METH_O, "The function, with a backward span around each call."},
    {"fact", &put_fact, METH_VARARGS, "A row of table meta."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "peel_agent", "Peel's agent in the traced process.", -1, kMethods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace peel::agent

extern "C" __attribute__((visibility("default"))) PyObject* PyInit_peel_agent() {
  peel::agent::g_modules = PyUnicode_InternFromString("_modules");
  return PyModule_Create(&peel::agent::kModule);
}
