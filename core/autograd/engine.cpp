#include "core/autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/autograd/anomaly.h"
#include "core/autograd/formulas.h"
#include "core/autograd/special_nodes.h"
#include "core/dispatch/error.h"
#include "core/observer.h"
#include "core/tensor/nested.h"

namespace peel::core {
namespace {

struct Ready {
  Ref<Node> node;
  std::vector<Tensor> grads;
};
// Among equals the order is the heap's, as in stock.
struct RunsLater {
  bool operator()(const Ready& a, const Ready& b) const { return a.node->sequence() < b.node->sequence(); }
};

// What a run with named inputs does at a node: whether it runs, and which of its inputs are to be kept as results.
struct Targets {
  struct At {
    bool needed = false;
    std::vector<std::pair<uint32_t, size_t>> captures;  // (input of the node, number of the result)
    bool executes() const { return needed || !captures.empty(); }
  };
  std::unordered_map<const Node*, At> nodes;
};

// Of the run that this thread is in.
thread_local const Targets* targets = nullptr;
thread_local Node* running = nullptr;
thread_local int64_t graph_task = -1;
thread_local const std::unordered_set<Node*>* in_graph = nullptr;
thread_local std::vector<std::function<void()>>* at_the_end = nullptr;
std::atomic<int64_t> next_graph_task{0};
template <class T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), saved_(place) { place_ = value; }
  ~Restore() { place_ = saved_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T saved_;
};

Gradients with_tensor_hooks(Node& node, Gradients grads) {
  if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node)) {
    const GradMeta* meta = grad_meta(leaf->variable());
    if (meta && meta->hooks) {
      for (const auto& hook : meta->hooks->all) {
        if (Tensor g = hook.second(grads[0]); g.defined()) grads[0] = std::move(g);
      }
    }
    return grads;
  }
  const NodeHooks* hooks = node.hooks_or_null();
  if (!hooks) return grads;
  for (size_t i = 0; i < hooks->tensors.size() && i < grads.size(); ++i) {
    if (!hooks->tensors[i] || !grads[i].defined()) continue;
    for (const auto& hook : hooks->tensors[i]->all) {
      if (Tensor g = hook.second(grads[i]); g.defined()) grads[i] = std::move(g);
    }
  }
  for (size_t i = 0; i < hooks->retained.size() && i < grads.size(); ++i) {
    const auto place = hooks->retained[i].lock();
    if (!place || !grads[i].defined()) continue;
    *place = place->defined() ? ops::add_Tensor::call(*place, grads[i]) : ops::clone::call(grads[i], MemoryFormat::Contiguous);
  }
  return grads;
}

// One backward: how many gradients each node still waits for, and those that have come.
class Task {
 public:
  explicit Task(BackwardOptions options) : options_(options) {}
  /// Only what leads to these edges runs. `accumulate`: the nodes there run as well; else their inputs are the results.
  void stop_at(std::span<const Edge> inputs, bool accumulate) {
    targets_ = std::make_unique<Targets>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].node) continue;
      Targets::At& at = targets_->nodes[inputs[i].node.get()];
      if (accumulate) at.needed = true;
      else at.captures.emplace_back(inputs[i].input, i);
    }
    results_.resize(inputs.size());
  }
  std::vector<Tensor>& results() { return results_; }

  void run(Ref<Node> root, std::vector<Tensor> grads) {
    count(root.get());
    if (targets_) find_needed(root.get());
    const Restore scope(targets, static_cast<const Targets*>(targets_.get()));
    const Restore number(graph_task, next_graph_task++);
    const Restore reached(in_graph, static_cast<const std::unordered_set<Node*>*>(&nodes_));
    std::vector<std::function<void()>> callbacks;
    const Restore ends(at_the_end, &callbacks);
    ready_.push({std::move(root), std::move(grads)});
    while (!ready_.empty()) {
      Ready next = std::move(const_cast<Ready&>(ready_.top()));
      ready_.pop();
      evaluate(std::move(next));
    }
    for (size_t i = 0; i < callbacks.size(); ++i) {  // one may queue another
      const std::function<void()> callback = callbacks[i];
      callback();
    }
  }

 private:
  void count(Node* root) {
    std::vector<Node*> stack{root};
    nodes_.insert(root);
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (const Edge& e : n->next_edges()) {
        if (!e.node) continue;
        ++waits_[e.node.get()];
        if (nodes_.insert(e.node.get()).second) stack.push_back(e.node.get());
      }
    }
  }

  // A node is needed when one that it leads to is; those come first.
  void find_needed(Node* root) {
    struct Frame {
      Node* node;
      size_t next = 0;
    };
    std::unordered_set<Node*> seen{root};
    std::vector<Frame> stack{{root}};
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next < f.node->next_edges().size()) {
        Node* n = f.node->next_edges()[f.next++].node.get();
        if (n && seen.insert(n).second) stack.push_back({n});
        continue;
      }
      const bool leads = std::ranges::any_of(f.node->next_edges(), [this](const Edge& e) {
        const auto at = targets_->nodes.find(e.node.get());
        return e.node && at != targets_->nodes.end() && at->second.executes();
      });
      if (leads) targets_->nodes[f.node].needed = true;
      stack.pop_back();
    }
  }

  bool executes(const Node* n) const {
    if (!targets_) return true;
    const auto at = targets_->nodes.find(n);
    return at != targets_->nodes.end() && at->second.executes();
  }

  std::vector<Tensor> call(Node& node, std::vector<Tensor> grads) {
    grads = with_tensor_hooks(node, std::move(grads));
    const NodeHooks* hooks = node.hooks_or_null();
    if (hooks) {
      for (const auto& hook : hooks->before.all) grads = hook.second(std::move(grads));
    }
    const bool after = hooks && !hooks->after.all.empty();
    Gradients given = after ? grads : Gradients();
    std::vector<Tensor> out = run_node(node, std::move(grads));
    const std::vector<Edge>& edges = node.next_edges();
    if (out.size() > edges.size()) out.resize(edges.size());
    for (size_t i = 0; i < out.size(); ++i) {
      if (edges[i].node && out[i].defined()) fit(out[i], edges[i], node, i);
    }
    if (after) {
      for (const auto& hook : hooks->after.all) out = hook.second(std::move(out), given);
    }
    return out;
  }

  void evaluate(Ready r) {
    Node& node = *r.node;
    if (targets_) {
      const auto at = targets_->nodes.find(&node);
      if (at == targets_->nodes.end()) return;
      if (!at->second.captures.empty()) {
        const Gradients kept = at->second.needed ? r.grads : with_tensor_hooks(node, std::move(r.grads));
        for (const auto& [input, number] : at->second.captures) results_[number] = kept[input];
        if (!at->second.needed) return;
      } else if (!at->second.needed) {
        return;
      }
    }
    std::vector<Tensor> out;
    if (anomaly.on) {
      try {
        out = call(node, std::move(r.grads));
        if (anomaly.check_nan) anomaly.check(node, out);
      } catch (...) {
        anomaly.failed(node);
        throw;
      }
    } else {
      out = call(node, std::move(r.grads));
    }
    if (!options_.keep_graph) node.release();
    const std::vector<Edge>& edges = node.next_edges();
    for (size_t i = 0; i < edges.size(); ++i) {
      Tensor none;
      if (edges[i].node && executes(edges[i].node.get())) deliver(edges[i], i < out.size() ? out[i] : none);
    }
  }

  // What broadcasting repeated is summed; the dtype becomes the input's.
  void fit(Tensor& grad, const Edge& e, const Node& from, size_t i) {
    const InputMetadata& m = e.node->inputs()[e.input];
    if (!m.defined) return;
    if (m.nested_sizes.defined() && is_nested(grad)) {
      if (!ops::is_same_size::call(m.nested_sizes, ops::_nested_tensor_size::call(grad))) {
        throw Error(std::string("Function ") + from.name() + " returned an invalid gradient at index " + std::to_string(i) + " - got a nested tensor of other sizes than expected");
      }
    } else if (!std::ranges::equal(grad.sizes(), m.sizes)) {
      bool possible = grad.sizes().size() >= m.sizes.size();
      for (size_t d = 0; possible && d < m.sizes.size(); ++d) {
        const int64_t have = grad.sizes()[grad.sizes().size() - m.sizes.size() + d];
        possible = m.sizes[d] == have || m.sizes[d] == 1;
      }
      if (!possible) {
        throw Error(std::string("Function ") + from.name() + " returned an invalid gradient at index " + std::to_string(i) + " - got " +
                    to_text(grad.sizes()) + " but expected shape compatible with " + to_text(m.sizes));
      }
      grad = formulas::sum_to(grad, m.sizes);
    }
    if (grad.dtype() != m.dtype) grad = ops::to_dtype::call(grad, m.dtype);
  }

  // Takes the gradient only when it is the first there: else it stays with its node's results until all of them are delivered, as in stock,
  // which decides about adding in place by counting owners.
  void deliver(const Edge& e, Tensor& grad) {
    std::vector<Tensor>& have = buffers_[e.node.get()];
    have.resize(std::max<size_t>(e.node->inputs().size(), e.input + 1));
    if (grad.defined()) add(have[e.input], grad);
    if (--waits_[e.node.get()] > 0) return;
    std::vector<Tensor> all = std::move(have);
    buffers_.erase(e.node.get());
    ready_.push({e.node, std::move(all)});
  }

  static void add(Tensor& old, Tensor& grad) {
    if (!old.defined()) {
      old = std::move(grad);
      return;
    }
    const bool sparse = old.impl().sparse != nullptr;
    const bool ours = !sparse && !is_nested(old) && !old.keys().has(DispatchKey::Meta) && old.object()->owners() == 1 && old.impl().storage->owners() == 1 &&
                      is_non_overlapping_and_dense(old.sizes(), old.strides());
    if (!grad_state.grad_mode && ours) ops::add__Tensor::call(old, grad);
    else old = sparse ? ops::add_Tensor::call(grad, old) : ops::add_Tensor::call(old, grad);
  }

  BackwardOptions options_;
  std::unique_ptr<Targets> targets_;
  std::vector<Tensor> results_;
  std::unordered_set<Node*> nodes_;  // that the root reaches
  std::unordered_map<Node*, int64_t> waits_;
  std::unordered_map<Node*, std::vector<Tensor>> buffers_;
  std::priority_queue<Ready, std::vector<Ready>, RunsLater> ready_;
};

class NodeScope {
 public:
  NodeScope(Observer* o, Node& n) : observer_(o), node_(n) {
    if (observer_) observer_->node_begin(node_);
  }
  ~NodeScope() {
    if (observer_) observer_->node_end(node_);
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;

 private:
  Observer* observer_;
  Node& node_;
};

}  // namespace

std::vector<Tensor> run_node(Node& node, std::vector<Tensor> grads) {
  NodeScope scope(observer(), node);
  const Restore inner(running, &node);
  return node.apply(std::move(grads));
}

std::vector<Tensor> run_whole_node(Node& node, std::vector<Tensor> grads) {
  const Restore all(targets, static_cast<const Targets*>(nullptr));
  return run_node(node, std::move(grads));
}

bool Node::wanted(size_t i) const {
  if (!should_compute(i)) return false;
  if (!targets) return true;
  const auto at = targets->nodes.find(next_[i].node.get());
  return at != targets->nodes.end() && at->second.executes();
}

Node* running_node() { return running; }
int64_t current_graph_task() { return graph_task; }
void queue_callback(std::function<void()> callback) {
  if (!at_the_end) throw Error("Final callbacks can only be installed during backward pass.");
  at_the_end->push_back(std::move(callback));
}
bool will_run(const Node& n) {
  if (!targets) return in_graph && in_graph->contains(const_cast<Node*>(&n));
  const auto at = targets->nodes.find(&n);
  return at != targets->nodes.end() && at->second.executes();
}

namespace {

void run_task(Task& task, std::span<const Tensor> roots, std::vector<Tensor> grads, BackwardOptions options) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < roots.size(); ++i) {
    Edge e = gradient_edge(roots[i]);
    if (!e.node) throw Error("element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn");
    edges.push_back(std::move(e));
  }
  GradMode mode(options.create_graph);
  if (edges.size() == 1) {
    std::vector<Tensor> given(std::max<size_t>(edges[0].node->inputs().size(), 1));
    given[edges[0].input] = std::move(grads[0]);
    task.run(std::move(edges[0].node), std::move(given));
  } else {
    task.run(make_ref<GraphRoot>(std::move(edges), std::move(grads)), {});
  }
}

// Stands for an input that no graph leads to; it takes a number, as in stock.
class Unreachable final : public Node {
 public:
  const char* name() const override { return "Identity"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override { return grads; }
};

std::vector<Edge> edges_of(std::span<const Tensor> inputs) {
  std::vector<Edge> out;
  for (const Tensor& t : inputs) {
    if (!requires_grad(t)) throw Error("One of the differentiated Tensors does not require grad");
    Edge e = existing_edge(t);
    if (!e.node) e.node = make_ref<Unreachable>();
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace

void backward(std::span<const Tensor> roots, std::vector<Tensor> grads, BackwardOptions options) {
  Task task(options);
  run_task(task, roots, std::move(grads), options);
}

void backward_to(std::span<const Tensor> roots, std::vector<Tensor> grads, std::span<const Tensor> inputs, BackwardOptions options) {
  if (inputs.empty()) throw Error("`inputs` argument to `backward()` cannot be empty.");
  Task task(options);
  task.stop_at(edges_of(inputs), true);
  run_task(task, roots, std::move(grads), options);
}

std::vector<Tensor> gradients(std::span<const Tensor> roots, std::vector<Tensor> grads, std::span<const Tensor> inputs, BackwardOptions options) {
  Task task(options);
  task.stop_at(edges_of(inputs), false);
  run_task(task, roots, std::move(grads), options);
  for (size_t i = 0; i < task.results().size() && !options.allow_unused; ++i) {
    if (task.results()[i].defined()) continue;
    throw Error("The differentiated Tensor at index " + std::to_string(i) +
                " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
  }
  return std::move(task.results());
}

}  // namespace peel::core
