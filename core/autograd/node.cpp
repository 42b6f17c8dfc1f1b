#include "core/autograd/node.h"

#include <algorithm>

#include "core/autograd/anomaly.h"
#include "core/dispatch/error.h"
#include "core/observer.h"
#include "ops_generated/ops.h"

namespace peel::core {
namespace {

thread_local uint64_t sequence_number = 0;
// Edges of nodes that are going: emptied in a loop by the outermost one.
thread_local std::vector<Edge>* dying = nullptr;

}  // namespace

uint64_t next_hook_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t Node::next_sequence() { return sequence_number++; }
uint64_t Node::peek_sequence() { return sequence_number; }

Node::~Node() {
  if (dying) {
    dying->insert(dying->end(), std::make_move_iterator(next_.begin()), std::make_move_iterator(next_.end()));
    return;
  }
  std::vector<Edge> rest = std::move(next_);
  dying = &rest;
  while (!rest.empty()) {
    const Edge e = std::move(rest.back());
    rest.pop_back();
  }
  dying = nullptr;
}

void Node::set_next_edges(std::vector<Edge> edges) {
  next_ = std::move(edges);
  for (const Edge& e : next_) {
    if (e.node) topological_ = std::max(topological_, e.node->topological() + 1);
  }
}

uint32_t Node::add_input(const Tensor& t) {
  InputMetadata m;
  if (t.defined()) m = {SizeVector(t.sizes().begin(), t.sizes().end()), t.impl().nested ? ops::_nested_tensor_size::call(t) : Tensor(), t.dtype(), true};
  inputs_.push_back(std::move(m));
  return static_cast<uint32_t>(inputs_.size() - 1);
}

void announce(Node& n) {
  if (anomaly.on) anomaly.made(n);
  if (Observer* o = observer()) o->node_made(n);
}

NodeLock::NodeLock(Node& n) : mutex_(n.mutex()) {
  if (mutex_.try_lock()) return;
  if (Observer* o = observer()) o->wait_for(mutex_);
  else mutex_.lock();
}

std::vector<Tensor> NotImplementedNode::apply(std::vector<Tensor>) {
  throw Error(std::string("derivative for aten::") + op_ + " is not implemented");
}

}  // namespace peel::core
