// Stops: what a hop looks like to breakpoints, and what its thread does while it stands (tracer/wire/stopping.h).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <pthread.h>

#include "tracer/embedded/change.h"
#include "tracer/wire/interrupts.h"

namespace nb = nanobind;

namespace peel::embedded {
namespace {

PyObject *ask_locals = nullptr, *ask_threads = nullptr;

/// With Python's lock. An exception is told as a row.
void ask_python(PyObject* function, wire::AnswerRows& rows) {
  if (!function) return;
  const nb::error_scope pending;  // the program's
  try {
    for (const nb::handle row : nb::handle(function)()) {
      std::vector<std::string> text;
      for (const nb::handle field : row) text.push_back(nb::cast<std::string>(field));
      if (text.size() == 1) rows.row({text[0]});
      if (text.size() == 3) rows.row({text[0], text[1], text[2]});
    }
  } catch (const nb::python_error& e) {
    if (e.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();  // the program's: it gets it when it goes on
    rows.row({"", "", "Python could not tell"});
  } catch (const std::exception&) {  // a text that is no UTF-8
    rows.row({"", "", "Python could not tell"});
  }
}

class View final : public wire::HopView {
 public:
  View(Thread& t, wire::Phase p, const core::Hop* hop) : t_(t), f_(t.frames.back()), hop_(hop) {
    op_id = f_.op_id;
    key = hop ? static_cast<uint16_t>(hop->key()) : 0;
    kind = f_.kind;
    phase = p;
    depth = static_cast<uint32_t>(t.frames.size() - 1);
    Noticed& seen = t.noticed;
    if (p == wire::Phase::kBefore) {
      seen.error_depth = UINT32_MAX;
      if (depth == 0) seen.write = {};
      return;
    }
    // An exception is told where it is first seen, not at every hop that it passes through.
    raised = f_.raised && seen.error_depth != depth + 1;
    if (raised && !hop) seen.error_type.clear(), seen.error_message.clear();
    seen.error_depth = f_.raised ? depth : UINT32_MAX;
    note_writes();
  }
  std::string_view op() const override {
    if (text_.empty() && f_.op) text_ = f_.op->name().text();
    return text_;
  }
  std::string_view key_name() const override { return hop_ ? core::to_string(hop_->key()) : ""; }
  std::string_view thread_name() const override {
    if (thread_.empty()) {
      char name[16] = "";
      pthread_getname_np(pthread_self(), name, sizeof name);
      thread_ = gettid() == getpid() ? "main" : name;
    }
    return thread_;
  }
  Place place() const override {
    if (!place_) place_ = user_place(&file_);
    return *place_;
  }
  bool has_key(std::string_view pattern) const override {
    if (!hop_) return false;
    for (const core::DispatchKey k : hop_->set)
      if (wire::glob_match(pattern, core::to_string(k))) return true;
    return false;
  }
  bool grad_mode() const override { return core::grad_state.grad_mode; }
  bool inference_mode() const override { return core::grad_state.inference_mode; }
  bool any_argument(const std::function<bool(const wire::TensorArgument&)>& holds) const override {
    if (!hop_ || phase != wire::Phase::kBefore) return false;
    core::Stack values;
    hop_->values->push(&values);
    const auto one = [&](const core::IValue& v) {
      if (v.tag() != core::IValue::Tag::kTensor) return false;
      const core::Tensor t(v.to_tensor().release());
      if (!t.defined() || t.impl().wrapped_number) return false;
      const core::Device d = t.device();
      const std::string device = core::to_string(core::Device{d.type, -1});
      return holds({core::python_name(t.dtype()), device, d.index, t.sizes(), true, t.impl().requires_grad()});
    };
    return std::ranges::any_of(values, [&](const core::IValue& v) { return v.tag() == core::IValue::Tag::kList ? std::ranges::any_of(v.to_list(), one) : one(v); });
  }
  std::span<const std::string_view> nodes() const override {
    if (!node_names_.empty()) return node_names_;
    if (f_.run) node_names_.push_back(f_.run->name());
    else if (phase == wire::Phase::kAfter) node_names_.assign(t_.noticed.nodes.begin(), t_.noticed.nodes.end());
    return node_names_;
  }
  std::string_view error_type() const override { return t_.noticed.error_type; }
  std::string_view error_message() const override { return t_.noticed.error_message; }
  std::span<const uint64_t> written() const override { return written_; }
  bool contradiction() const override { return phase == wire::Phase::kAfter && t_.noticed.contradiction; }

 private:
  /// Of the layers of a call that all say that they write, the innermost whose tensor has a new version is the one.
  void note_writes() {
    auto& last = t_.noticed.write;
    for (size_t i = f_.written_first; i < t_.written.size(); ++i) {
      const Written& w = t_.written[i];
      const uint32_t after = version_of(*w.impl);
      const core::Storage* storage = w.impl->storage.get();
      if (!storage || (after == w.before && after != wire::kNoVersion)) continue;
      if (last.storage == storage && last.version == after && depth < last.depth) continue;
      last = {storage, after, depth};
      written_.push_back(reinterpret_cast<uintptr_t>(storage));
    }
  }

  Thread& t_;
  const Frame& f_;
  const core::Hop* hop_;
  mutable std::string text_, thread_, file_;
  mutable std::vector<std::string_view> node_names_;
  std::vector<uint64_t> written_;
  mutable std::optional<Place> place_;
};

class Host final : public wire::StopHost {
 public:
  Host(Thread& t, wire::Phase phase, core::Hop* hop, core::HopValues* results) : t_(t), phase_(phase), hop_(hop), results_(results), change_(t, phase, hop, results) {}
  void give_way() override {
    if (phase_ == wire::Phase::kAfter) put_timed(t_, wire::Tick{{wire::RecordKind::kTick, 0, 0}, 0});  // so that the results may be read before the end is there
    interrupts_ = wire::Interrupts::count();
    wire::Interrupts::watch(true);
    lock_ = PyGILState_Check() ? PyEval_SaveThread() : nullptr;
  }
  void take_back() override {
    if (lock_) PyEval_RestoreThread(lock_);
    lock_ = nullptr;
    wire::Interrupts::watch(false);
  }
  bool must_go_on() override {
    if (peel_is_gone()) stop_recording();
    return !is_recording() || wire::Interrupts::count() != interrupts_;
  }
  void answer(const wire::Question& q, wire::AnswerRows& rows) override {
    const nb::gil_scoped_acquire lock;
    if (q.ask == wire::Ask::kState) return tell_state(rows);
    // What runs here is not the program's: it isn't recorded, and sees none of the state that the hop runs under.
    const uint32_t epoch = std::exchange(t_.process_epoch, 0);
    const core::ForceKeys keys({core::kDefaultIncluded, core::kDefaultExcluded});
    const core::GradState grad = std::exchange(core::grad_state, {});
    try {
      if (q.ask == wire::Ask::kTensors) tell_values(rows);
      if (q.ask == wire::Ask::kLocals) ask_python(ask_locals, rows);
      if (q.ask == wire::Ask::kThreads) ask_python(ask_threads, rows);
      if (q.ask == wire::Ask::kChange) {
        core::grad_state.inference_mode = grad.inference_mode;  // what is made is what the program would have made
        const Change::Answer a = change_.apply({q.text, q.bytes});
        rows.row({a.done ? "yes" : "no", a.sentence});
      }
    } catch (...) {  // out of memory, at most: what is in the rows counts
    }
    core::grad_state = grad;
    t_.process_epoch = epoch;
  }
  Change& change() { return change_; }

 private:
  void tell_values(wire::AnswerRows& rows) {
    core::Stack values;
    if (phase_ == wire::Phase::kBefore && hop_) hop_->values->push(&values);
    if (results_) results_->push(&values);
    tell_tensors(values, rows);
  }
  void tell_state(wire::AnswerRows& rows) {
    char text[20];
    const core::LocalKeys keys = keys_of(t_);
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(keys.included.raw()));
    rows.row({"included", text});
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(keys.excluded.raw()));
    rows.row({"excluded", text});
    rows.row({"grad_mode", core::grad_state.grad_mode ? "on" : "off"});
    rows.row({"inference_mode", core::grad_state.inference_mode ? "on" : "off"});
    rows.row({"modes", keys.excluded.has(core::DispatchKey::AutocastCPU) ? "" : "autocast cpu BFloat16"});
  }

  Thread& t_;
  wire::Phase phase_;
  core::Hop* hop_;
  core::HopValues* results_;
  Change change_;
  PyThreadState* lock_ = nullptr;
  uint32_t interrupts_ = 0;
};

}  // namespace

void arrive(Thread& t, wire::Phase phase, core::Hop* hop, core::HopValues* results) {
  const View view(t, phase, hop);
  Host host(t, phase, hop, results);
  t.stopping.arrive(*t.control, t.ring_index, view, host);
  host.change().carry_out();
  if (phase == wire::Phase::kAfter) t.noticed.nodes.clear(), t.noticed.contradiction = false;
}

void set_questions(PyObject* locals, PyObject* threads) {
  Py_XINCREF(ask_locals = locals);
  Py_XINCREF(ask_threads = threads);
}

}  // namespace peel::embedded
