// torch.profiler's part that is not Python: an observer of its own, which tells the one that was there (the recorder) of everything too. What is an
// event, and what it is called, as measured on PyTorch: calls through the dispatcher, not redispatches; nodes twice, with and without what feeds them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <thread>
#include <unordered_map>

#include "core/autograd/engine.h"
#include "core/dispatch/error.h"
#include "core/dispatch/key_sets.h"
#include "core/dispatch/library.h"
#include "core/dispatch/modes.h"
#include "core/observer.h"
#include "core/python/autograd.h"
#include "core/python/library.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;  // of each argument; of a list nothing, as in PyTorch

struct Event {
  std::string name, overload;
  int64_t begin = 0, end = 0;  // ns
  int64_t thread = 0, parent = -1, sequence = -1, bytes = 0;
  Shapes shapes;
  nb::object values;  // of conv2d, mm, ...: what the count of operations hangs on
};

int64_t now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool is_observed(const std::string& name) {
  static constexpr std::string_view kUnseen[] = {"aten::size", "aten::is_leaf", "aten::output_nr", "aten::_version", "aten::is_complex"};
  return !name.starts_with("profiler::") && std::ranges::find(kUnseen, name) == std::end(kUnseen);
}

class Profiler final : public Observer {
 public:
  void start(bool shapes, bool memory, bool flops) {
    const std::lock_guard lock(mutex_);
    if (running_) throw Error("Profiler is already enabled on this thread");
    running_ = true;
    shapes_ = shapes, memory_ = memory, flops_ = flops;
    events_.clear();
    blocks_.clear();
    ++session_;
    inner_ = observer();
    set_observer(this);
  }
  std::vector<Event> stop() {
    const std::lock_guard lock(mutex_);
    if (!running_) throw Error("Can't disable Kineto profiler when it's not running");
    if (observer() == this) set_observer(inner_);
    running_ = false;
    const int64_t end = now();
    for (Event& e : events_) {
      if (!e.end) e.end = end;
    }
    ++session_;
    return std::move(events_);
  }

  void begin(Hop& hop) override {
    if (inner_) inner_->begin(hop);
    const bool call = hop.kind == HopKind::kCall || hop.kind == HopKind::kCallBoxed;
    const std::string& name = hop.op->name().name;
    const bool detached = !call && name == "aten::detach" && hop.key() == DispatchKey::ADInplaceOrView;  // has an event of its own in there
    if ((!call && !detached) || !is_observed(name)) return open(-1);
    settle();
    Event e;
    e.name = detached ? "detach" : name;
    e.overload = detached ? "" : hop.op->name().overload;
    if ((kAutograd.has_any(DispatchKeySet(hop.key()))) && grad_state.grad_mode && call) e.sequence = static_cast<int64_t>(Node::peek_sequence());
    if (shapes_ || flops_) describe(hop, &e);
    add(std::move(e));
  }
  void end(Hop& hop, HopValues* results) noexcept override {
    settle(true);
    close();
    if (inner_) inner_->end(hop, results);
  }
  void node_made(Node& n) override {
    if (inner_) inner_->node_made(n);
  }
  void node_begin(Node& n) override {
    if (inner_) inner_->node_begin(n);
    settle(true);
    Event outer, own;
    own.name = node_name(n);
    outer.name = "autograd::engine::evaluate_function: " + own.name;
    own.sequence = outer.sequence = n.sequence() == Node::kLast ? -1 : static_cast<int64_t>(n.sequence());
    add(std::move(outer));
    add(std::move(own));
  }
  void node_end(Node& n) noexcept override {
    settle(true);
    close();
    waiting().push_back({thread().size() - 1, current_graph_task()});  // its gradients are handed on yet
    if (inner_) inner_->node_end(n);
  }
  void wait_for(std::mutex& m) override { inner_ ? inner_->wait_for(m) : m.lock(); }
  void allocated(const void* at, size_t bytes, Device d) noexcept override {
    if (inner_) inner_->allocated(at, bytes, d);
    if (memory_) count(at, static_cast<int64_t>(bytes));
  }
  void freed(const void* at, Device d) noexcept override {
    if (inner_) inner_->freed(at, d);
    if (memory_) count(at, 0);
  }
  /// A span that the program names, by operators: what they do lies beside their own hops, not in them. Returns what ends it.
  int64_t enter(const std::string& name) {
    if (!running_) return -1;
    int64_t event = -1;
    beside([&] {
      settle();
      Event e;
      e.name = name;
      event = add(std::move(e));
    });
    return event;
  }
  void leave(int64_t event) {
    if (event < 0 || !running_) return;
    beside([&] {
      settle(true);
      close();
    });
  }

 private:
  struct Waiting {
    size_t depth;
    int64_t task;
  };
  struct Thread {
    uint64_t session = 0;
    int64_t number = 0;
    std::vector<int64_t> open;  // events; -1: a hop that is none
    std::vector<Waiting> waiting;
  };
  Thread& local() {
    static thread_local Thread t;
    if (t.session != session_) {
      t = Thread();
      t.session = session_;
      if (!numbers_.contains(std::this_thread::get_id())) numbers_[std::this_thread::get_id()] = static_cast<int64_t>(numbers_.size()) + 1;
      t.number = numbers_[std::this_thread::get_id()];
    }
    return t;
  }
  std::vector<int64_t>& thread() { return local().open; }
  std::vector<Waiting>& waiting() { return local().waiting; }
  template <class F>
  void beside(F f) {
    if (!thread().empty()) thread().pop_back();
    f();
    open(-1);
  }
  void open(int64_t event) { thread().push_back(event); }
  int64_t add(Event e) {
    const std::lock_guard lock(mutex_);
    if (!running_) {
      open(-1);
      return -1;
    }
    Thread& t = local();
    for (auto up = t.open.rbegin(); up != t.open.rend() && e.parent < 0; ++up) e.parent = *up;
    e.thread = t.number;
    e.begin = now();
    events_.push_back(std::move(e));
    t.open.push_back(static_cast<int64_t>(events_.size()) - 1);
    return t.open.back();
  }
  void close() noexcept {
    std::vector<int64_t>& open = thread();
    if (open.empty()) return;  // began before the profiler did
    const int64_t event = open.back();
    open.pop_back();
    if (event < 0) return;
    const std::lock_guard lock(mutex_);
    if (running_) events_[static_cast<size_t>(event)].end = now();
  }
  // The span round a node ends when the next node of its backward begins, when that backward has ended, or (`now`) when what is round it ends.
  void settle(bool now = false) noexcept {
    std::vector<Waiting>& all = waiting();
    while (!all.empty() && thread().size() == all.back().depth + 1 && (now || current_graph_task() != all.back().task)) {
      all.pop_back();
      close();
    }
  }
  void count(const void* at, int64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    if (bytes) {
      blocks_[at] = bytes;
    } else {
      const auto known = blocks_.find(at);
      if (known == blocks_.end()) return;  // older than the profiler
      bytes = -known->second;
      blocks_.erase(known);
    }
    const std::vector<int64_t>& open = thread();
    for (auto up = open.rbegin(); up != open.rend(); ++up) {
      if (*up < 0) continue;
      events_[static_cast<size_t>(*up)].bytes += bytes;
      return;
    }
  }
  void describe(const Hop& hop, Event* e) {
    Stack values;
    hop.values->push(&values);
    const auto shape = [](const IValue& v) {
      const Tensor t(v.to_tensor().release());
      return t.defined() ? std::vector<int64_t>(t.sizes().begin(), t.sizes().end()) : std::vector<int64_t>();
    };
    for (const IValue& v : values) e->shapes.push_back(v.tag() == IValue::Tag::kTensor ? shape(v) : std::vector<int64_t>());
    if (!flops_ || e->name != "aten::conv2d") return;
    const FunctionSchema& s = *hop.op->schema();
    nb::list found;
    for (size_t i = 0; i < values.size(); ++i) found.append(values[i].tag() == IValue::Tag::kTensor ? nb::none() : unbox(values[i], s.arguments[i].type));
    e->values = std::move(found);
  }

  std::mutex mutex_;
  std::atomic<bool> running_ = false;
  bool shapes_ = false, memory_ = false, flops_ = false;
  std::atomic<uint64_t> session_ = 0;
  Observer* inner_ = nullptr;
  std::vector<Event> events_;
  std::unordered_map<const void*, int64_t> blocks_;
  std::unordered_map<std::thread::id, int64_t> numbers_;
};

// Never freed: a hop that began under it may end later.
Profiler& profiler() {
  static auto& p = *new Profiler;
  return p;
}

nb::list given(const std::vector<Event>& events) {
  nb::list out;
  for (const Event& e : events) {
    out.append(nb::make_tuple(e.name, e.overload, e.begin, e.end, e.thread, e.parent, e.sequence, e.bytes, e.shapes, e.values.is_valid() ? e.values : nb::none()));
  }
  return out;
}

}  // namespace

void bind_profiler(nb::module_& m) {
  // The operators by which a program names a span: seen as hops like any other.
  static auto& spans = *new Library(Library::Kind::kDef, "profiler", std::nullopt, __FILE__, __LINE__);
  spans.def("_record_function_enter_new(str name, str? args=None) -> __torch__.torch.classes.profiler._RecordFunction",
            boxed_kernel([](const OperatorHandle&, DispatchKeySet, Stack* stack) {
              const std::string name = (*stack)[stack->size() - 2].to_string();
              drop(stack, 2);
              stack->push_back(profiler().enter(name));
            }));
  spans.def("_record_function_exit._RecordFunction(__torch__.torch.classes.profiler._RecordFunction _0) -> ()", boxed_kernel([](const OperatorHandle&, DispatchKeySet, Stack* stack) {
              const int64_t event = stack->back().to_int();
              drop(stack, 1);
              profiler().leave(event);
            }));
  m.def("_start_profiler", [](bool shapes, bool memory, bool flops) { profiler().start(shapes, memory, flops); });
  m.def("_stop_profiler", [] { return given(profiler().stop()); });
}

}  // namespace peel::core::python
