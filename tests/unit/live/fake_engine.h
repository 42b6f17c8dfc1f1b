// An engine without operators: threads that walk trees of hops and ask at each whether to stop, over real shared memory.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sessions/live.h"
#include "tests/catch.h"
#include "tracer/wire/ring.h"
#include "tracer/wire/stopping.h"

namespace peel::test {

struct FakeView final : wire::HopView {
  std::string name = "aten::add.Tensor", key_text = "CPU", thread = "main", file = "/home/me/train.py", type, message;
  int line = 1;
  uint64_t frame = 1, instruction = 1;
  bool grad = true, inference = false, mixed = false;
  std::vector<std::string_view> made;
  std::vector<uint64_t> storages;
  std::vector<wire::TensorArgument> tensors;

  std::string_view op() const override { return name; }
  std::string_view key_name() const override { return key_text; }
  std::string_view thread_name() const override { return thread; }
  Place place() const override { return {file, line, frame, instruction}; }
  bool has_key(std::string_view pattern) const override { return wire::glob_match(pattern, key_text); }
  bool grad_mode() const override { return grad; }
  bool inference_mode() const override { return inference; }
  bool any_argument(const std::function<bool(const wire::TensorArgument&)>& holds) const override { return std::any_of(tensors.begin(), tensors.end(), holds); }
  std::span<const std::string_view> nodes() const override { return made; }
  std::string_view error_type() const override { return type; }
  std::string_view error_message() const override { return message; }
  std::span<const uint64_t> written() const override { return storages; }
  bool contradiction() const override { return mixed; }
};

/// A hop of this engine with what it calls; `id` from 1, in order of begin.
struct EngineHop {
  uint32_t id = 0;
  std::string op = "aten::add";
  std::vector<EngineHop> inside;
};

class FakeEngine {
 public:
  /// `control` null: one of its own.
  explicit FakeEngine(LiveControl* control = nullptr) : live(control ? *control : own_) {
    if (!wire::create_memory(wire::kMinRingBytes, &memory)) throw std::runtime_error("no memory");
    live.attach(memory.control);
  }
  ~FakeEngine() {
    gone = true;
    for (std::thread& t : threads_) t.join();
    live.detach(memory.control);
    memory.close();
  }
  /// A thread that runs the hops and ends.
  void run(std::vector<EngineHop> hops) {
    const uint32_t ring = wire::claim_ring(memory.control);
    running++;
    threads_.emplace_back([this, ring, hops = std::move(hops)] {
      Host host(*this);
      wire::Stopping stopping;
      for (const EngineHop& n : hops) walk(n, 0, ring, stopping, host);
      running--;
    });
  }
  /// Waits for the next stop, as the drain would place it. `id` 0: the threads ended without one.
  struct Where { uint32_t id, ring; bool after; };
  Where next_stop() {
    for (int i = 0; i < 20000; ++i) {
      if (const auto u = live.unplaced(memory.control)) {
        const uint32_t id = at_[u->ring];
        live.place(memory.control, *u, 1, ThreadId{u->ring + 1}, EventId{id});
        return {id, u->ring, memory.control->stand[u->ring].phase == wire::Phase::kAfter};
      }
      if (!running) return {0, 0, false};
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    FAIL("no stop and no end");
    return {};
  }

  wire::Memory memory;
  LiveControl& live;
  std::atomic<bool> gone = false, interrupted = false;
  std::atomic<int> running = 0, hops = 0;
  std::function<void(const wire::Question&, wire::AnswerRows&)> answer;

 private:
  struct Host final : wire::StopHost {
    explicit Host(FakeEngine& e) : engine(e) {}
    void give_way() override {}
    void take_back() override {}
    bool must_go_on() override { return engine.gone || engine.interrupted; }
    void answer(const wire::Question& q, wire::AnswerRows& rows) override { if (engine.answer) engine.answer(q, rows); }
    FakeEngine& engine;
  };
  void walk(const EngineHop& n, uint32_t depth, uint32_t ring, wire::Stopping& stopping, Host& host) {
    FakeView view;
    view.name = n.op;
    view.op_id = n.id;
    view.depth = depth;
    view.thread = ring == 0 ? "main" : "worker";
    const auto arrive = [&](wire::Phase p) {
      view.phase = p;
      at_[ring] = n.id;
      if (memory.control->live.attention.load(std::memory_order_relaxed)) stopping.arrive(*memory.control, ring, view, host);
    };
    hops++;
    arrive(wire::Phase::kBefore);
    for (const EngineHop& inner : n.inside) walk(inner, depth + 1, ring, stopping, host);
    arrive(wire::Phase::kAfter);
  }
  LiveControl own_;
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> at_[wire::kMaxRings] = {};
};

}  // namespace peel::test
