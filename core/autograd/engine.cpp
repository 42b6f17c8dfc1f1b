#include "core/autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/autograd/formulas.h"
#include "core/autograd/special_nodes.h"
#include "core/dispatch/error.h"
#include "core/observer.h"

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

// One backward: how many gradients each node still waits for, and those that have come.
class Task {
 public:
  explicit Task(BackwardOptions options) : options_(options) {}

  void run(Ref<Node> root, std::vector<Tensor> grads) {
    count(root.get());
    ready_.push({std::move(root), std::move(grads)});
    while (!ready_.empty()) {
      Ready next = std::move(const_cast<Ready&>(ready_.top()));
      ready_.pop();
      evaluate(std::move(next));
    }
  }

 private:
  void count(Node* root) {
    std::vector<Node*> stack{root};
    std::unordered_set<Node*> seen{root};
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (const Edge& e : n->next_edges()) {
        if (!e.node) continue;
        ++waits_[e.node.get()];
        if (seen.insert(e.node.get()).second) stack.push_back(e.node.get());
      }
    }
  }

  void evaluate(Ready r) {
    Node& node = *r.node;
    std::vector<Tensor> out = run_node(node, std::move(r.grads));
    if (!options_.keep_graph) node.release();
    const std::vector<Edge>& edges = node.next_edges();
    if (out.size() > edges.size()) out.resize(edges.size());
    for (size_t i = 0; i < out.size(); ++i) {
      if (edges[i].node && out[i].defined()) fit(out[i], edges[i], node, i);
    }
    for (size_t i = 0; i < edges.size(); ++i) {
      Tensor none;
      if (edges[i].node) deliver(edges[i], i < out.size() ? out[i] : none);
    }
  }

  // What broadcasting repeated is summed; the dtype becomes the input's.
  void fit(Tensor& grad, const Edge& e, const Node& from, size_t i) {
    const InputMetadata& m = e.node->inputs()[e.input];
    if (!m.defined) return;
    if (!std::ranges::equal(grad.sizes(), m.sizes)) {
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
    const bool ours = old.object()->owners() == 1 && old.impl().storage->owners() == 1 &&
                      is_non_overlapping_and_dense(old.sizes(), old.strides());
    if (!grad_state.grad_mode && ours) ops::add__Tensor::call(old, grad);
    else old = ops::add_Tensor::call(old, grad);
  }

  BackwardOptions options_;
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
  return node.apply(std::move(grads));
}

void backward(std::span<const Tensor> roots, std::vector<Tensor> grads, BackwardOptions options) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < roots.size(); ++i) {
    Edge e = gradient_edge(roots[i]);
    if (!e.node) throw Error("element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn");
    edges.push_back(std::move(e));
  }
  GradMode mode(options.create_graph);
  Task task(options);
  if (edges.size() == 1) {
    std::vector<Tensor> given(std::max<size_t>(edges[0].node->inputs().size(), 1));
    given[edges[0].input] = std::move(grads[0]);
    task.run(std::move(edges[0].node), std::move(given));
  } else {
    task.run(make_ref<GraphRoot>(std::move(edges), std::move(grads)), {});
  }
}

}  // namespace peel::core
