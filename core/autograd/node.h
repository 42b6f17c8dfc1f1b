// The graph that backward walks: nodes, and edges from each to the nodes of its inputs.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace peel::core {

class Node;
class SavedVariable;
using Gradients = std::vector<Tensor>;

/// What a program hangs on a node. Hooks run in the order of their registration; each may replace what it is given.
struct NodeHooks {
  /// Before the node: of one of its inputs, as registered on the tensor that the node made. Undefined: leave the gradient.
  using OnTensor = std::function<Tensor(const Tensor& grad)>;
  using Before = std::function<Gradients(Gradients)>;
  using After = std::function<Gradients(Gradients outputs, const Gradients& inputs)>;
  template <class F>
  struct List {
    std::vector<std::pair<uint64_t, F>> all;
    uint64_t add(F f);
    void remove(uint64_t id) {
      std::erase_if(all, [id](const auto& one) { return one.first == id; });
    }
  };
  std::vector<std::shared_ptr<List<OnTensor>>> tensors;  // by input; null: none
  std::vector<std::weak_ptr<Tensor>> retained;           // by input: where retain_grad keeps the gradient
  List<Before> before;
  List<After> after;
};
uint64_t next_hook_id();
template <class F>
uint64_t NodeHooks::List<F>::add(F f) {
  all.emplace_back(next_hook_id(), std::move(f));
  return all.back().first;
}

/// Where a gradient goes: which input of which node. No node: nowhere.
struct Edge {
  Ref<Node> node;
  uint32_t input = 0;
};

/// What a gradient for one input must look like.
struct InputMetadata {
  SizeVector sizes;
  Tensor nested_sizes;  // of a nested tensor
  ScalarType dtype = ScalarType::Float;
  bool defined = false;
};

/// A tensor that a node keeps, under the name that the formula has for it. `output`: the node's own result.
struct KeptTensor {
  const char* name;
  const SavedVariable* variable;
  bool output;
};

/// One step of backward. Made through make_node.
class Node : public RefCounted {
 public:
  static constexpr uint64_t kLast = UINT64_MAX;  // AccumulateGrad's sequence number: it takes none of the thread's
  explicit Node(uint64_t sequence = next_sequence()) : sequence_(sequence) {}
  /// Ends deep graphs without deep recursion.
  ~Node() override;
  virtual const char* name() const = 0;
  /// One gradient per input of the forward operator; undefined where none is needed.
  virtual std::vector<Tensor> apply(std::vector<Tensor> grads) = 0;
  /// Lets saved tensors go, after backward without retain_graph.
  virtual void release() {}
  virtual std::vector<KeptTensor> kept_tensors() const { return {}; }

  /// Of this thread, from 0. Later nodes run first.
  uint64_t sequence() const { return sequence_; }
  static uint64_t next_sequence();
  static uint64_t peek_sequence();
  /// Longest path to a leaf.
  uint64_t topological() const {
    seen_.store(true, std::memory_order_relaxed);
    return topological_;
  }
  const std::vector<Edge>& next_edges() const { return next_; }
  void set_next_edges(std::vector<Edge>);
  /// Whether the gradient number `i` is wanted by anyone.
  bool should_compute(size_t i) const { return i < next_.size() && next_[i].node; }
  /// The same while backward runs: whether this run's targets need it.
  bool wanted(size_t i) const;
  const std::vector<InputMetadata>& inputs() const { return inputs_; }
  /// Another output of the forward operator; its number.
  uint32_t add_input(const Tensor&);
  /// Held while saved tensors are read or let go: two threads may run backward over one graph.
  std::mutex& mutex() { return mutex_; }
  NodeHooks& hooks() {
    if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
    return *hooks_;
  }
  const NodeHooks* hooks_or_null() const { return hooks_.get(); }
  /// Anomaly mode: the program's stack when the node was made, and the node whose backward made it.
  struct Origin {
    std::string stack;
    Ref<Node> parent;
  };
  std::unique_ptr<Origin> origin;
  /// What a binding keeps with the node.
  std::shared_ptr<void> companion;

 private:
  std::unique_ptr<NodeHooks> hooks_;
  std::mutex mutex_;
  std::vector<Edge> next_;
  std::vector<InputMetadata> inputs_;
  uint64_t sequence_, topological_ = 0;
  mutable std::atomic<bool> seen_{false};  // by several threads at once
};

/// Holds a node's mutex.
class NodeLock {
 public:
  explicit NodeLock(Node&);
  ~NodeLock() { mutex_.unlock(); }
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;

 private:
  std::mutex& mutex_;
};

/// Tells the observer.
void announce(Node&);
template <class T, class... A>
Ref<T> make_node(A&&... a) {
  Ref<T> node = make_ref<T>(std::forward<A>(a)...);
  announce(*node);
  return node;
}

/// An operator without a derivative formula: only running it is an error.
class NotImplementedNode final : public Node {
 public:
  explicit NotImplementedNode(const char* op) : op_(op) {}
  const char* name() const override { return "NotImplemented"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override;

 private:
  const char* op_;
};

}  // namespace peel::core
