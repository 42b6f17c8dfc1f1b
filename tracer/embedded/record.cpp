// What happens at the begin and end of a hop.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <exception>

#include "core/dispatch/error.h"
#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

using wire::RecordKind;

constexpr size_t kMaxDepth = 1024;

uint64_t graph_task = 0;  // the backward call that runs

struct Raised { std::string type, message; };

// The exception in flight as Python shows it.
Raised raised() {
  try {
    throw;
  } catch (const nanobind::python_error& e) {
    return {nanobind::cast<const char*>(e.type().attr("__name__")), nanobind::cast<const char*>(nanobind::str(e.value()))};
  } catch (const core::NotImplemented& e) {
    return {"NotImplementedError", e.what()};
  } catch (const core::TypeError& e) {
    return {"TypeError", e.what()};
  } catch (const core::ValueError& e) {
    return {"ValueError", e.what()};
  } catch (const core::IndexError& e) {
    return {"IndexError", e.what()};
  } catch (const std::exception& e) {
    return {"RuntimeError", e.what()};
  } catch (...) {
    return {"?", ""};
  }
}

// Address and order of the tensors among the arguments.
uint64_t fingerprint(const core::Stack& values) {
  uint64_t out = 0;
  const auto add = [&](const core::IValue& v) {
    const uint64_t x = v.tag() == core::IValue::Tag::kTensor ? reinterpret_cast<uintptr_t>(v.to_tensor().object().get()) : 0;
    out = (out << 7 | out >> 57) ^ x;
  };
  for (const core::IValue& v : values) {
    if (v.tag() == core::IValue::Tag::kList) {
      for (const core::IValue& one : v.to_list()) add(one);
    } else if (v.tag() == core::IValue::Tag::kTensor || v.is_none()) {
      add(v);
    }
  }
  return out;
}

void notice_nodes(Thread& t, const Frame& f) {
  for (const core::Ref<core::Node>& n : f.nodes) t.noticed.nodes.push_back(n->name());
}

bool contradicts(const core::IValue& v) {
  if (v.tag() != core::IValue::Tag::kTensor) return false;
  const core::Tensor x(v.to_tensor().release());
  return x.defined() && x.is_inference() && x.impl().requires_grad();
}

class Recorder final : public core::Observer {
 public:
  void begin(core::Hop& h) override;
  void end(core::Hop&, core::HopValues*) noexcept override;
  void node_made(core::Node& n) override {
    Thread* t = thread();
    if (t && detail() == Detail::kStandard && !t->frames.empty()) t->frames.back().nodes.push_back(core::Ref<core::Node>(&n));
  }
  void node_begin(core::Node&) override;
  void node_end(core::Node&) noexcept override;
  void wait_for(std::mutex& m) override {
    PyThreadState* lock = PyGILState_Check() ? PyEval_SaveThread() : nullptr;
    m.lock();
    if (lock) PyEval_RestoreThread(lock);
  }
  void allocated(const void* p, size_t bytes, core::Device d) noexcept override { memory(wire::MemoryAction::kAlloc, p, bytes, d); }
  void freed(const void* p, core::Device d) noexcept override { memory(wire::MemoryAction::kFreeCompleted, p, 0, d); }

 private:
  static void record_begin(Thread&, core::Hop&);
  static Thread* thread() {
    Thread* t = this_thread();
    return t && t->process_epoch == process_epoch() ? t : nullptr;
  }
  // Every begin pushes a frame, as every end takes one; one that could not be recorded says nothing more.
  static Frame& open(Thread& t, bool standard) {
    const Frame* parent = t.frames.empty() ? nullptr : &t.frames.back();
    const void* frame = nullptr;
    const uint32_t stack = standard ? python_stack(parent ? parent->python_frame : nullptr, parent ? parent->stack : 0, &frame) : 0;
    Frame f;
    f.stack = stack;
    f.python_frame = frame;
    f.written_first = t.written.size();
    f.exceptions = std::uncaught_exceptions();
    t.frames.push_back(std::move(f));
    return t.frames.back();
  }
  static bool put_begin(Thread& t, wire::Begin b) {
    b.head.kind = RecordKind::kBegin;
    b.head.words = sizeof b / 8;
    const wire::Busy busy(t.ring);
    uint64_t* at = t.frames.size() > kMaxDepth ? nullptr : t.ring.reserve(b.head.words);
    if (!at) return false;
    b.time = wire::ticks();
    std::memcpy(at, &b, sizeof b);
    t.ring.publish(b.head.words);
    return true;
  }
  static void put_end(Thread& t, bool raised) { put_timed(t, wire::End{{RecordKind::kEnd, 0, raised ? uint32_t{wire::kRaised} : 0u}, 0}); }
  void put_nodes(Thread& t, Frame& f, const core::Stack& results);
  void memory(wire::MemoryAction, const void*, size_t, core::Device) noexcept;
};

void Recorder::begin(core::Hop& h) {
  Thread* t = thread();
  if (!t) return;
  if (whatif_waits) [[unlikely]] whatif_begins(*t);
  record_begin(*t, h);
  if (attention(*t) && t->frames.back().recorded) arrive(*t, wire::Phase::kBefore, &h);
}

void Recorder::record_begin(Thread& thread, core::Hop& h) {
  Thread* t = &thread;
  const bool standard = detail() == Detail::kStandard, call = h.kind == core::HopKind::kCall || h.kind == core::HopKind::kCallBoxed;
  if (call && (t->forced != core::LocalKeys{} || t->looks_again)) [[unlikely]] {
    t->looks_again = false;
    const core::LocalKeys l = keys_of(*t);
    h.go_to(h.op->masks().apply((h.arguments | l.included) - l.excluded));
  }
  const bool lacking = !h.kernel->function.valid();
  const uint32_t op = define_op(*h.op);
  const core::OperatorEntry* outer = t->frames.empty() ? nullptr : t->frames.back().op;
  const uint64_t outer_fingerprint = t->frames.empty() ? 0 : t->frames.back().fingerprint;
  Frame& f = open(*t, standard);
  f.op = h.op;
  f.op_id = op;
  wire::Begin b{};
  b.head.a = op;
  b.keyset = h.set.raw();
  b.arg_keyset = call ? h.arguments.raw() : 0;
  b.kernel = lacking ? 0 : kernel_id(*h.op, *h.kernel);
  b.tls = current_tls(*t);
  b.stack = f.stack;
  b.kind = f.kind = lacking ? wire::HopKind::kMissingKernel : static_cast<wire::HopKind>(h.kind);
  b.flags = standard ? uint8_t{0} : uint8_t{wire::kNoValues};
  b.key = static_cast<uint16_t>(h.key());
  f.recorded = put_begin(*t, b);
  if (!f.recorded || !standard) return;
  core::Stack values;
  h.values->push(&values);
  f.fingerprint = fingerprint(values);
  const core::FunctionSchema* schema = h.op->schema();
  const bool repeats = !call && outer == h.op && outer_fingerprint == f.fingerprint;
  for (uint32_t i = 0; schema && i < schema->arguments.size() && i < values.size(); ++i) {
    const core::Argument& a = schema->arguments[i];
    if (values[i].tag() == core::IValue::Tag::kTensor) {
      const core::Tensor x(values[i].to_tensor().release());
      const core::GradMeta* m = x.defined() ? core::grad_meta(x) : nullptr;
      if (m && m->node) put_node(*t, *m->node, &x.impl(), false);
      if (x.defined() && a.alias && a.alias->write) t->written.push_back({&x.impl(), i, version_of(x.impl())});
    }
    if (!repeats) put_argument(*t, wire::place(i), values[i], a.type, false);
  }
}

void Recorder::put_nodes(Thread& t, Frame& f, const core::Stack& results) {
  const auto made_by = [&](const core::Node& n) -> const core::TensorImpl* {
    for (const core::IValue& v : results) {
      if (v.tag() != core::IValue::Tag::kTensor) continue;
      const core::Tensor x(v.to_tensor().release());
      const core::GradMeta* m = x.defined() ? core::grad_meta(x) : nullptr;
      if (m && m->node.get() == &n) return &x.impl();
    }
    return nullptr;
  };
  for (const core::Ref<core::Node>& n : f.nodes) {
    if (n->sequence() != core::Node::kLast) put_node(t, *n, made_by(*n), true);
  }
  f.nodes.clear();
}

void Recorder::end(core::Hop& h, core::HopValues* results) noexcept {
  Thread* t = thread();
  if (!t || t->frames.empty()) return;
  Frame& f = t->frames.back();
  const bool attentive = f.recorded && attention(*t);
  if (attentive) notice_nodes(*t, f);
  f.raised = !results;
  if (f.recorded && detail() == Detail::kStandard) {
    core::Stack values;
    if (results) results->push(&values);
    put_nodes(*t, f, values);
    const core::FunctionSchema* schema = h.op->schema();
    for (uint32_t i = 0; schema && i < schema->returns.size() && i < values.size(); ++i) put_argument(*t, wire::place(i), values[i], schema->returns[i].type, true);
    if (attentive) t->noticed.contradiction = std::ranges::any_of(values, contradicts);
    for (size_t i = f.written_first; i < t->written.size(); ++i) {
      const Written& w = t->written[i];
      put_plain(*t, wire::Write{{RecordKind::kWrite, 0, wire::place(w.position)}, identity(w.impl), identity(w.impl->storage.get()), w.before, version_of(*w.impl)});
    }
  }
  if (f.recorded && !results && (attentive || h.kernel->function.valid())) {
    Raised e = raised();
    e.message.resize(std::min(e.message.find('\n'), e.message.size()));
    if (h.kernel->function.valid()) put_plain(*t, wire::Error{{RecordKind::kError, 0, intern(e.type)}, intern(e.message), 0});
    t->noticed.error_type = std::move(e.type), t->noticed.error_message = std::move(e.message);
  }
  if (attentive) arrive(*t, wire::Phase::kAfter, &h, results);
  t->written.resize(f.written_first);
  if (f.recorded) put_end(*t, !results);
  t->frames.pop_back();
  if (whatif_waits) [[unlikely]] whatif_ends(*t);
}

void Recorder::node_begin(core::Node& n) {
  Thread* t = thread();
  if (!t) return;
  const bool standard = detail() == Detail::kStandard;
  if (standard && whatif_waits) [[unlikely]] whatif_begins(*t);
  Frame& f = open(*t, standard);
  wire::Begin b{};
  b.tls = current_tls(*t);
  b.stack = f.stack;
  b.kind = wire::HopKind::kBackwardNode;
  f.recorded = standard && put_begin(*t, b);
  f.run = &n;
  f.kind = wire::HopKind::kBackwardNode;
  if (!f.recorded) return;
  put_node_run(*t, n, graph_task);
  if (attention(*t)) arrive(*t, wire::Phase::kBefore, nullptr);
}

void Recorder::node_end(core::Node&) noexcept {
  Thread* t = thread();
  if (!t || t->frames.empty()) return;
  Frame& f = t->frames.back();
  if (f.recorded) {
    const bool attentive = attention(*t);
    if (attentive) notice_nodes(*t, f);
    put_nodes(*t, f, {});
    f.raised = std::uncaught_exceptions() > f.exceptions;
    if (attentive) arrive(*t, wire::Phase::kAfter, nullptr);
    put_end(*t, f.raised);
  }
  t->frames.pop_back();
  if (whatif_waits) [[unlikely]] whatif_ends(*t);
}

void Recorder::memory(wire::MemoryAction action, const void* block, size_t bytes, core::Device d) noexcept {
  if (detail() != Detail::kStandard || d.type != 0) return;
  Thread* t = thread();
  if (!t) return;
  wire::Allocation m{};
  m.head = {RecordKind::kMemory, 0, wire::memory_place(action, d.type, -1)};
  m.address = reinterpret_cast<uintptr_t>(block);
  m.size = bytes;
  const void* frame = nullptr;
  if (t->frames.empty()) m.stack = python_stack(nullptr, 0, &frame);
  put_timed(*t, m);
}

}  // namespace

core::Observer& recorder() {
  static Recorder& r = *new Recorder;
  return r;
}

void begin_span(wire::SpanKind kind, std::string_view name, std::string_view detail_text, const void* object) {
  Thread* t = is_recording() && detail() == Detail::kStandard ? this_thread() : nullptr;
  if (!t) return;
  const void* frame = nullptr;
  const uint32_t stack = python_stack(nullptr, 0, &frame);
  if (kind == wire::SpanKind::kBackward) ++graph_task;
  put_timed(*t, wire::SpanBegin{{RecordKind::kSpanBegin, 0, intern(name)}, 0, kind, detail_text.empty() ? 0 : intern(detail_text), reinterpret_cast<uintptr_t>(object), stack, 0});
}

void end_span() {
  Thread* t = is_recording() && detail() == Detail::kStandard ? this_thread() : nullptr;
  if (t) put_timed(*t, wire::SpanEnd{{RecordKind::kSpanEnd, 0, 0}, 0});
}

}  // namespace peel::embedded
