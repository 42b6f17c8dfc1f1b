// Backward: runs the nodes that the roots reach, each when all its gradients are there, the latest made first.
#pragma once
#include "core/autograd/history.h"

namespace peel::core {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;  // gradients have a graph of their own
};
/// From `roots` with these gradients to the leaves, whose `grad` it adds to. Error when a root needs no grad, or a saved tensor has changed.
/// Runs on the calling thread in its state, with grad mode as create_graph says.
void backward(std::span<const Tensor> roots, std::vector<Tensor> grads, BackwardOptions = {});
/// One node, seen by the observer.
std::vector<Tensor> run_node(Node&, std::vector<Tensor> grads);

}  // namespace peel::core
