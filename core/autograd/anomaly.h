// Anomaly mode: where nodes were made, and NaN that backward makes.
#pragma once
#include "core/autograd/node.h"

namespace peel::core {

struct Anomaly {
  bool on = false, check_nan = true;
  /// The program's stack as text, for the node that is being made; whoever runs the program gives it.
  std::string (*stack)() = nullptr;
  /// What is said when a node fails: stderr unless the program has a better place.
  void (*warn)(const std::string&) = nullptr;
  /// Notes where the node was made.
  void made(Node&) const;
  /// The node failed: warns with the stacks of it and of the nodes whose backward led to it.
  void failed(const Node&) const;
  /// Error when a gradient of the node has a NaN.
  void check(const Node&, const Gradients&) const;
};
/// Of the process, as in stock.
extern Anomaly anomaly;

}  // namespace peel::core
