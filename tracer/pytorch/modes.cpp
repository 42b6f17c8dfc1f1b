// Modes that Python enters (grad mode, inference_mode, autocast, dispatch modes, functorch levels, guards), as spans.
//
// They are followed at the C functions that Python calls to change the thread's state: the entry in the function's own PyMethodDef is replaced, so that
// every object stays what it was and nothing that looks at it (torch.compile among it) sees a difference. Nothing is done per hop.
#include <Python.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

using wire::ModeFamily;

enum class Does : uint8_t { kSets, kEnters, kLeaves };  // kSets: which of the others it is the calling frame tells
struct Hook {
  PyCFunction original;
  ModeFamily family;
  Does does;
  std::string name;
};
constexpr size_t kMaxHooks = 56;
std::array<Hook, kMaxHooks> g_hooks;
size_t g_hook_count = 0;

/// What a thread has entered and not left. `by_function`: set without a `with`, so the next setting of the family ends it.
struct Entered { ModeFamily family; bool by_function; };
thread_local std::vector<Entered> tl_entered;

struct ModeState {
  uint64_t included, excluded;
  bool grad, inference;
  int64_t modes;
  bool operator==(const ModeState&) const = default;
};
ModeState mode_state() {
  const auto k = c10::impl::tls_local_dispatch_key_set();
  return {k.included_.raw_repr(), k.excluded_.raw_repr(), c10::GradMode::is_enabled(), c10::InferenceMode::is_enabled(), c10::impl::TorchDispatchModeTLS::stack_len()};
}

/// The name of the Python function that called ours; `out` frames further up.
std::string calling_function(int out) {
  std::string name;
  PyFrameObject* f = PyEval_GetFrame();
  Py_XINCREF(f);
  for (; f && out > 0; --out) {
    PyFrameObject* up = PyFrame_GetBack(f);
    Py_DECREF(f);
    f = up;
  }
  if (!f) return name;
  PyCodeObject* code = PyFrame_GetCode(f);
  if (const char* text = PyUnicode_AsUTF8(code->co_name)) name = text;
  else PyErr_Clear();
  Py_DECREF(code);
  Py_DECREF(f);
  return name;
}

/// `no_grad.__exit__` calls set_grad_enabled(), whose `__init__` calls us.
std::string who_sets() {
  for (int out = 0; out < 2; ++out) {
    const std::string name = calling_function(out);
    if (name == "__exit__" || name == "__enter__") return name;
  }
  return "";
}

std::string mode_name(const Hook& h, PyObject* args) {
  switch (h.family) {
    case ModeFamily::kGrad: return c10::GradMode::is_enabled() ? "grad mode on" : "grad mode off";
    case ModeFamily::kInference: return c10::InferenceMode::is_enabled() ? "inference_mode" : "inference_mode off";
    case ModeFamily::kAutocast: {
      const char* device = args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0)) ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : "";
      const bool on = args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) == Py_True : args == Py_True;
      return std::string("autocast") + (device && *device ? " " : "") + (device ? device : "") + (on ? " on" : " off");
    }
    case ModeFamily::kDispatchMode: {
      PyObject* mode = args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : args;
      return mode ? _PyType_Name(Py_TYPE(mode)) : h.name;
    }
    default: return h.name;
  }
}

void left(Thread* t, ModeFamily family) {
  for (size_t i = tl_entered.size(); i-- > 0;) {
    if (tl_entered[i].family != family) continue;
    tl_entered.erase(tl_entered.begin() + static_cast<std::ptrdiff_t>(i));
    put_timed(t, wire::SpanEnd{{wire::RecordKind::kSpanEnd, 0, static_cast<uint32_t>(family)}, 0});
    return;
  }
}

void mode_changed(const Hook& h, PyObject* args) {
  Thread* t = spanning_thread();
  if (!t) return;
  bool leaves = h.does == Does::kLeaves, by_function = false;
  if (h.does == Does::kSets || h.family == ModeFamily::kDispatchMode) {
    const std::string who = who_sets();
    // Handlers take their mode away and put it back around every call: that is no entering.
    if (h.family == ModeFamily::kDispatchMode && who.empty()) return;
    leaves = leaves || who == "__exit__";
    by_function = who.empty();
  }
  if (leaves) return left(t, h.family);
  if (!tl_entered.empty() && tl_entered.back().family == h.family && tl_entered.back().by_function) left(t, h.family);
  const uint32_t stack = python_stack(t, python_frame(t));
  put_timed(t, wire::SpanBegin{{wire::RecordKind::kSpanBegin, 0, intern(mode_name(h, args))}, 0, wire::SpanKind::kMode, 0, static_cast<uint64_t>(h.family), stack, 0});
  tl_entered.push_back({h.family, by_function});
}

template <class Call>
PyObject* around(const Hook& h, PyObject* args, Call&& call) {
  const ModeState before = mode_state();
  PyObject* r = call();
  if (r && !(mode_state() == before)) mode_changed(h, args);
  return r;
}
template <size_t I>
PyObject* with_keywords(PyObject* self, PyObject* args, PyObject* keywords) {
  return around(g_hooks[I], args, [&] { return reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void*>(g_hooks[I].original))(self, args, keywords); });
}
template <size_t I>
PyObject* without_keywords(PyObject* self, PyObject* args) {
  return around(g_hooks[I], args, [&] { return g_hooks[I].original(self, args); });
}
using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);  // METH_FASTCALL | METH_KEYWORDS, as pybind11 3 makes them
template <size_t I>
PyObject* fast(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return around(g_hooks[I], nullptr, [&] { return reinterpret_cast<Fast>(reinterpret_cast<void*>(g_hooks[I].original))(self, args, count, names); });
}
template <size_t... I>
constexpr std::array<PyCFunctionWithKeywords, sizeof...(I)> keyword_thunks(std::index_sequence<I...>) { return {&with_keywords<I>...}; }
template <size_t... I>
constexpr std::array<PyCFunction, sizeof...(I)> plain_thunks(std::index_sequence<I...>) { return {&without_keywords<I>...}; }
template <size_t... I>
constexpr std::array<Fast, sizeof...(I)> fast_thunks(std::index_sequence<I...>) { return {&fast<I>...}; }
constexpr auto kFast = fast_thunks(std::make_index_sequence<kMaxHooks>());
constexpr auto kWithKeywords = keyword_thunks(std::make_index_sequence<kMaxHooks>());
constexpr auto kPlain = plain_thunks(std::make_index_sequence<kMaxHooks>());

bool is_writable(const void* p) {
  FILE* maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return false;
  char line[512];
  bool yes = false;
  while (!yes && std::fgets(line, sizeof line, maps)) {
    unsigned long long from = 0, to = 0;
    char rights[8] = "";
    if (std::sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3) continue;
    const auto at = reinterpret_cast<uintptr_t>(p);
    yes = at >= from && at < to && rights[1] == 'w';
  }
  std::fclose(maps);
  return yes;
}

void follow_call(PyObject* owner, const char* attribute, ModeFamily family, Does does, const char* name) {
  PyObject* f = owner ? PyObject_GetAttrString(owner, attribute) : nullptr;
  if (!f) return PyErr_Clear();
  PyObject* function = PyInstanceMethod_Check(f) ? PyInstanceMethod_GET_FUNCTION(f) : f;
  if (PyCFunction_Check(function) && g_hook_count < kMaxHooks) {
    PyMethodDef* m = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
    const auto as_plain = [](auto thunk) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(thunk)); };
    PyCFunction ours = nullptr;
    switch (m->ml_flags & ~(METH_STATIC | METH_CLASS | METH_COEXIST)) {
      case METH_VARARGS | METH_KEYWORDS: ours = as_plain(kWithKeywords[g_hook_count]); break;
      case METH_FASTCALL | METH_KEYWORDS: ours = as_plain(kFast[g_hook_count]); break;
      case METH_VARARGS:
      case METH_O:
      case METH_NOARGS: ours = kPlain[g_hook_count]; break;
      default: break;  // a convention that these functions do not have
    }
    if (ours && is_writable(&m->ml_meth)) {
      g_hooks[g_hook_count++] = {m->ml_meth, family, does, name};
      m->ml_meth = ours;
    }
  }
  Py_DECREF(f);
}

}  // namespace

void follow_modes() {
  PyObject* torch = PyImport_ImportModule("torch._C");
  if (!torch) return PyErr_Clear();
  follow_call(torch, "_set_grad_enabled", ModeFamily::kGrad, Does::kSets, "");
  for (const char* name : {"set_autocast_enabled", "set_autocast_cpu_enabled", "set_autocast_gpu_enabled", "set_autocast_xla_enabled", "set_autocast_ipu_enabled"})
    follow_call(torch, name, ModeFamily::kAutocast, Does::kSets, "autocast");
  follow_call(torch, "_push_on_torch_dispatch_stack", ModeFamily::kDispatchMode, Does::kEnters, "dispatch mode");
  follow_call(torch, "_pop_torch_dispatch_stack", ModeFamily::kDispatchMode, Does::kLeaves, "dispatch mode");
  follow_call(torch, "_set_dispatch_mode", ModeFamily::kDispatchMode, Does::kEnters, "dispatch mode");
  follow_call(torch, "_unset_dispatch_mode", ModeFamily::kDispatchMode, Does::kLeaves, "dispatch mode");
  static constexpr struct { const char* type; ModeFamily family; const char* name; } kGuards[] = {
      {"_InferenceMode", ModeFamily::kInference, "inference_mode"},
      {"_ExcludeDispatchKeyGuard", ModeFamily::kGuard, "_ExcludeDispatchKeyGuard"},
      {"_SetExcludeDispatchKeyGuard", ModeFamily::kGuard, "_SetExcludeDispatchKeyGuard"},
      {"_IncludeDispatchKeyGuard", ModeFamily::kGuard, "_IncludeDispatchKeyGuard"},
      {"_ForceDispatchKeyGuard", ModeFamily::kGuard, "_ForceDispatchKeyGuard"},
      {"_AutoDispatchBelowAutograd", ModeFamily::kGuard, "_AutoDispatchBelowAutograd"},
      {"_AutoDispatchBelowADInplaceOrView", ModeFamily::kGuard, "_AutoDispatchBelowADInplaceOrView"},
      {"_DisableTorchDispatch", ModeFamily::kGuard, "_DisableTorchDispatch"},
      {"_DisableAutocast", ModeFamily::kAutocast, "autocast off"},
      {"_EnablePythonDispatcher", ModeFamily::kGuard, "_EnablePythonDispatcher"},
  };
  for (const auto& g : kGuards) {
    PyObject* type = PyObject_GetAttrString(torch, g.type);
    if (!type) PyErr_Clear();
    follow_call(type, "__init__", g.family, Does::kEnters, g.name);  // some act when they are made, others when they are entered
    follow_call(type, "__enter__", g.family, Does::kEnters, g.name);
    follow_call(type, "__exit__", g.family, Does::kLeaves, g.name);
    Py_XDECREF(type);
  }
  PyObject* functorch = PyObject_GetAttrString(torch, "_functorch");
  if (!functorch) PyErr_Clear();
  for (const char* name : {"vmap", "grad", "jvp", "func"}) {
    follow_call(functorch, (std::string("_") + name + "_increment_nesting").c_str(), ModeFamily::kFunctorch, Does::kEnters, name);
    follow_call(functorch, (std::string("_") + name + "_decrement_nesting").c_str(), ModeFamily::kFunctorch, Does::kLeaves, name);
  }
  Py_XDECREF(functorch);
  Py_DECREF(torch);
}

}  // namespace peel::agent
