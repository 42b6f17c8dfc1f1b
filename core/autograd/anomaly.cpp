#include "core/autograd/anomaly.h"

#include <cstdio>

#include "core/autograd/engine.h"
#include "core/dispatch/error.h"
#include "ops_generated/ops.h"

namespace peel::core {

constinit Anomaly anomaly;

void Anomaly::made(Node& n) const {
  n.origin = std::make_unique<Node::Origin>(Node::Origin{stack ? stack() : std::string(), Ref<Node>(running_node())});
}

void Anomaly::failed(const Node& n) const {
  const auto say = [this](const std::string& text) {
    if (warn) warn(text);
    else std::fprintf(stderr, "%s\n", text.c_str());
  };
  if (!n.origin) {
    say(std::string("Error detected in ") + n.name() +
        ". No forward pass information available. Enable detect anomaly during forward pass for more information.");
    return;
  }
  say(std::string("Error detected in ") + n.name() + ". Traceback of forward call that caused the error:\n" + n.origin->stack);
  for (Ref<Node> parent = n.origin->parent; parent && parent->origin; parent = parent->origin->parent) {
    say(std::string("\n\nPrevious calculation was induced by ") + parent->name() + ". Traceback of forward call that induced the previous calculation:\n" +
        parent->origin->stack);
  }
}

void Anomaly::check(const Node& n, const Gradients& outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) continue;
    const bool nan = ops::item::call(ops::_is_any_true::call(ops::isnan::call(outputs[i]))).value.to_bool();
    if (nan) throw Error(std::string("Function '") + n.name() + "' returned nan values in its " + std::to_string(i) + "th output.");
  }
}

}  // namespace peel::core
