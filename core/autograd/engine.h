// Backward: runs the nodes that the roots reach, each when all its gradients are there, the latest made first.
#pragma once
#include <functional>

#include "core/autograd/history.h"

namespace peel::core {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;  // gradients have a graph of their own
  bool allow_unused = false;  // gradients(): an input that no root depends on is no error
};
/// From `roots` with these gradients to the leaves, whose `grad` it adds to. Error when a root needs no grad, or a saved tensor has changed.
/// Runs on the calling thread in its state, with grad mode as create_graph says. Several threads may run over one graph.
void backward(std::span<const Tensor> roots, std::vector<Tensor> grads, BackwardOptions = {});
/// backward that stops at these leaves (accumulating there) or tensors.
void backward_to(std::span<const Tensor> roots, std::vector<Tensor> grads, std::span<const Tensor> inputs, BackwardOptions = {});
/// The gradients with respect to the inputs, which may be any tensors of the graph; nothing is accumulated. Undefined where unused and allowed.
std::vector<Tensor> gradients(std::span<const Tensor> roots, std::vector<Tensor> grads, std::span<const Tensor> inputs, BackwardOptions = {});
/// The node that this thread runs; null outside backward.
Node* running_node();
/// Of the backward that this thread is in; -1 outside.
int64_t current_graph_task();
/// Called when the backward that this thread is in has run all its nodes. Error outside.
void queue_callback(std::function<void()>);
/// Whether that runs the node, or hands its gradient out.
bool will_run(const Node&);
/// One node, seen by the observer.
std::vector<Tensor> run_node(Node&, std::vector<Tensor> grads);
/// One that another node runs inside: with all its gradients, as the run's inputs don't lie behind its own edges.
std::vector<Tensor> run_whole_node(Node&, std::vector<Tensor> grads);

}  // namespace peel::core
