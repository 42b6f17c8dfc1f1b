// Seeing every hop of the embedded engine. Off, an observer costs one predictable branch a hop.
#pragma once
#include <atomic>
#include <mutex>

#include "core/dispatch/operator_entry.h"

namespace peel::core {

/// How a kernel was entered.
enum class HopKind : uint8_t { kCall, kRedispatch, kCallBoxed, kRedispatchBoxed };

/// The arguments or results of a hop, boxed only when someone asks.
class HopValues {
 public:
  virtual void push(Stack*) const = 0;
  /// Of results, with values of the schema's types: these are returned instead. False: they are references to arguments, or no results.
  virtual bool replace(const Stack&) { return false; }

 protected:
  ~HopValues() = default;
};

class Node;  // core/autograd

/// One hop, while it runs. An observer may change where it goes: `go_to`, or another `kernel`.
struct Hop {
  const OperatorEntry* op;
  HopKind kind;
  DispatchKeySet arguments;  // union over the arguments; calls only
  DispatchKeySet set;        // what the kernel was looked up with and is given
  const Kernel* kernel;      // not valid(): a failed look-up, which raises after begin
  const HopValues* values;
  void* own = nullptr;       // the observer's
  DispatchKey key() const { return set.highest(); }
  void go_to(DispatchKeySet s) {
    set = s;
    kernel = op->kernel(s);
  }
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(Hop&) = 0;
  /// Each begin has one end. `results` is null when the hop raised: std::current_exception() is what passes through.
  virtual void end(Hop&, HopValues* results) noexcept = 0;
  /// A node of the autograd graph was made, by the kernel that runs.
  virtual void node_made(Node&) {}
  /// Backward runs a node; calls between are its. AccumulateGrad too.
  virtual void node_begin(Node&) {}
  virtual void node_end(Node&) noexcept {}
  /// Locks for a thread that finds another one running its node. A thread that stands still in there may need what this one holds.
  virtual void wait_for(std::mutex& m) { m.lock(); }
  /// Memory of tensors, `bytes` as asked for.
  virtual void allocated(const void*, size_t /*bytes*/, Device) noexcept {}
  virtual void freed(const void*, Device) noexcept {}
};

namespace detail {
inline constinit std::atomic<Observer*> observer{nullptr};
}
inline Observer* observer() { return detail::observer.load(std::memory_order_acquire); }
/// For every thread; null = off. The caller keeps it alive until no hop that began under it is open.
inline void set_observer(Observer* o) { detail::observer.store(o, std::memory_order_release); }

}  // namespace peel::core
