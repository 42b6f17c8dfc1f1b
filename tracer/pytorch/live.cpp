// Stops: what a hop looks like to breakpoints, and what its thread does while it stands (tracer/wire/stopping.h).
#include <Python.h>
#include <pthread.h>

#include <cstdio>

#include "tracer/pytorch/agent.h"
#include "tracer/wire/interrupts.h"

namespace peel::agent {
namespace {

PyObject *g_locals = nullptr, *g_threads = nullptr;

/// Asks Python, whose lock is taken for it. An exception is told as a row.
void ask_python(PyObject* function, wire::AnswerRows& rows) {
  if (!function || finalizing()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* list = PyObject_CallNoArgs(function);
  if (!list && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();  // the program's: it gets it when it goes on
  for (Py_ssize_t i = 0; list && PyList_Check(list) && i < PyList_GET_SIZE(list); i++) {
    PyObject* row = PyList_GET_ITEM(list, i);
    const char* text[3] = {};
    const Py_ssize_t n = PyTuple_Check(row) ? PyTuple_GET_SIZE(row) : 0;
    for (Py_ssize_t k = 0; k < n && k < 3; k++) {
      text[k] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, k));
      if (!text[k]) PyErr_Clear(), text[k] = "?";
    }
    if (n == 1) rows.row({text[0]});
    if (n == 3) rows.row({text[0], text[1], text[2]});
  }
  if (!list) rows.row({"", "", "Python could not tell"});
  Py_XDECREF(list);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
}

class View final : public wire::HopView {
 public:
  View(Thread* t, Frame* f, wire::Phase p, const Held* held) : t_(t), f_(f), held_(held) {
    op_id = f->op ? f->op->id : 0;
    key = f->key;
    kind = f->kind;
    phase = p;
    depth = static_cast<uint32_t>(f - t->frames);
    Noticed& seen = t->noticed;
    if (p == wire::Phase::kBefore) {
      seen.error_depth = UINT32_MAX;
      seen.contradiction = false;
      if (depth == 0) seen.write = {};
      return;
    }
    // An exception is told where it is first seen, not at every hop that it passes through.
    raised = f->raised && seen.error_depth != depth + 1;
    seen.error_depth = f->raised ? depth : UINT32_MAX;
    note_writes();
  }
  std::string_view op() const override {
    if (text_.empty() && f_->op) {
      const auto& name = f_->op->entry->operator_name();
      text_ = name.name + (name.overload_name.empty() ? "" : "." + name.overload_name);
    }
    return text_;
  }
  std::string_view key_name() const override { return f_->kind == wire::HopKind::kBackwardNode ? "" : c10::toString(static_cast<c10::DispatchKey>(f_->key)); }
  std::string_view thread_name() const override {
    if (thread_.empty()) {
      char name[16] = "";
      pthread_getname_np(pthread_self(), name, sizeof name);
      thread_ = gettid() == getpid() ? "main" : name;
    }
    return thread_;
  }
  Place place() const override {
    if (!placed_) place_ = user_place(t_), placed_ = true;
    return {place_.file, place_.line, reinterpret_cast<uintptr_t>(place_.frame), reinterpret_cast<uintptr_t>(place_.instruction)};
  }
  bool has_key(std::string_view pattern) const override {
    for (const c10::DispatchKey k : c10::DispatchKeySet(c10::DispatchKeySet::RAW, f_->keyset))
      if (wire::glob_match(pattern, c10::toString(k))) return true;
    return false;
  }
  bool grad_mode() const override { return t_->autograd->get_grad_mode(); }
  bool inference_mode() const override { return t_->autograd->get_inference_mode(); }
  bool any_argument(const std::function<bool(const wire::TensorArgument&)>& holds) const override {
    return held_ && phase == wire::Phase::kBefore && any_tensor(*held_, [&](uint32_t, int64_t, c10::TensorImpl* i) {
      if (i->is_wrapped_number_) return false;
      const auto& sizes = i->sizes_and_strides_;
      const bool sized = !i->has_symbolic_sizes_strides_;
      const auto& d = i->device_opt_;
      return holds({dtype_name(i->data_type_.toScalarType()), d ? device_name(d->type()) : "", d ? d->index() : -1,
                    sized ? std::span(sizes.sizes_data(), sizes.size()) : std::span<const int64_t>(), sized, (flags_of(i) & wire::kRequiresGrad) != 0});
    });
  }
  std::span<const std::string_view> nodes() const override {
    if (!node_names_.empty()) return node_names_;
    if (f_->kind == wire::HopKind::kBackwardNode) {
      if (const void* node = running_node()) node_ = node_text(node), node_names_.push_back(node_);
    } else if (phase == wire::Phase::kAfter && t_->noticed.depth == depth + 1) {
      for (const std::string& n : t_->noticed.nodes) node_names_.push_back(n);
    }
    return node_names_;
  }
  std::string_view error_type() const override { return t_->noticed.error_type; }
  std::string_view error_message() const override { return t_->noticed.error_message; }
  std::span<const uint64_t> written() const override { return written_; }
  bool contradiction() const override { return phase == wire::Phase::kAfter && t_->noticed.contradiction; }

 private:
  /// Of the layers of a call that all say that they write, the innermost whose tensor has a new version is the one.
  void note_writes() {
    auto& last = t_->noticed.write;
    for (size_t i = f_->written_first; i < t_->written.size(); i++) {
      const Written& w = t_->written[i];
      const uint32_t after = version_of(w.impl);
      const auto storage = reinterpret_cast<uintptr_t>(w.impl->storage_.unsafeGetStorageImpl());
      if (!storage || (after == w.before && after != wire::kNoVersion)) continue;
      if (last.storage == storage && last.version == after && depth < last.depth) continue;
      last = {storage, after, depth};
      written_.push_back(storage);
    }
  }

  Thread* t_;
  Frame* f_;
  const Held* held_;
  mutable std::string text_, thread_, node_;
  mutable std::vector<std::string_view> node_names_;
  std::vector<uint64_t> written_;
  mutable UserPlace place_;
  mutable bool placed_ = false;
};

class Host final : public wire::StopHost {
 public:
  Host(Thread* t, const Held* held, bool after) : t_(t), held_(held), after_(after) {}
  void give_way() override {
    if (after_) put_timed(t_, wire::Tick{{wire::RecordKind::kTick, 0, 0}, 0});  // so that the results may be read before the end is there
    interrupts_ = wire::Interrupts::count();
    wire::Interrupts::watch(true);
    PyThreadState* now = finalizing() ? nullptr : _PyThreadState_UncheckedGet();
    lock_ = now && now == PyGILState_GetThisThreadState() ? PyEval_SaveThread() : nullptr;
  }
  void take_back() override {
    if (lock_) PyEval_RestoreThread(lock_);
    lock_ = nullptr;
    wire::Interrupts::watch(false);
  }
  bool must_go_on() override {
    if (peel_is_gone()) stop_recording();
    return g_detail.load() == kOff || wire::Interrupts::count() != interrupts_;
  }
  void answer(const wire::Question& q, wire::AnswerRows& rows) override {
    // What runs here is not the program's: it isn't recorded, and sees none of the state that the hop runs under.
    const uint32_t epoch = t_->process_epoch;
    auto& keysets = *const_cast<c10::impl::PODLocalDispatchKeySet*>(t_->keysets);
    const c10::impl::PODLocalDispatchKeySet were = keysets;
    const bool grad = t_->autograd->get_grad_mode(), inference = t_->autograd->get_inference_mode();
    if (q.ask == wire::Ask::kState) tell_state(rows);
    if (q.ask == wire::Ask::kChange) rows.row({"no", "what happens next can be changed on the embedded engine only: record with --engine embedded"});
    t_->process_epoch = 0;
    keysets = {};
    c10::AutogradState::get_tls_state().set_grad_mode(false);
    c10::AutogradState::get_tls_state().set_inference_mode(false);
    try {
      if (q.ask == wire::Ask::kTensors && held_) tell_tensors(*held_, rows);
      if (q.ask == wire::Ask::kLocals) ask_python(g_locals, rows);
      if (q.ask == wire::Ask::kThreads) ask_python(g_threads, rows);
    } catch (...) {  // out of memory, at most: what is in the rows counts
    }
    c10::AutogradState::get_tls_state().set_grad_mode(grad);
    c10::AutogradState::get_tls_state().set_inference_mode(inference);
    keysets = were;
    t_->process_epoch = epoch;
  }

 private:
  void tell_state(wire::AnswerRows& rows) {
    char text[20];
    const uint64_t excluded = t_->keysets->excluded_ ^ c10::default_excluded_set.raw_repr();
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(t_->keysets->included_ ^ c10::default_included_set.raw_repr()));
    rows.row({"included", text});
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(excluded));
    rows.row({"excluded", text});
    rows.row({"grad_mode", t_->autograd->get_grad_mode() ? "on" : "off"});
    rows.row({"inference_mode", t_->autograd->get_inference_mode() ? "on" : "off"});
    rows.row({"modes", modes_text(excluded)});
  }

  Thread* t_;
  const Held* held_;
  bool after_;
  PyThreadState* lock_ = nullptr;
  uint32_t interrupts_ = 0;
};

}  // namespace

void arrive(Thread* t, Frame* f, wire::Phase phase, const Held* held) {
  const View hop(t, f, phase, held);
  Host host(t, held, phase == wire::Phase::kAfter);
  t->stopping.arrive(*t->control, t->ring_index, hop, host);
  if (phase == wire::Phase::kAfter) t->noticed.nodes.clear(), t->noticed.contradiction = false;
}

void forget_standing() {
  wire::Interrupts::forget();
}

void set_questions(PyObject* locals, PyObject* threads) {
  Py_XINCREF(g_locals = locals);
  Py_XINCREF(g_threads = threads);
}

}  // namespace peel::agent
