#include "tests/conformance/hop_log.h"

#include <exception>

#include "core/dispatch/modes.h"

namespace peel::core {

void HopLog::begin(Hop& h) {
  const bool call = h.kind == HopKind::kCall || h.kind == HopKind::kCallBoxed;
  const bool lacking = !h.kernel->function.valid();
  const LocalKeys local = local_keys();
  lines_.push_back(std::to_string(open_.size()) + '\t' + h.op->name().text() + '\t' + (lacking ? "missing_kernel" : call ? "call" : "redispatch") + '\t' + to_string(h.key()) + '\t' +
                   std::to_string(h.set.raw()) + '\t' + (call ? std::to_string(h.arguments.raw()) : "-") + '\t' + std::to_string(local.included.raw()) +
                   '\t' + std::to_string(local.excluded.raw()) + '\t' + std::to_string(grad_state.grad_mode) + '\t' +
                   std::to_string(grad_state.inference_mode));
  open_.push_back({lines_.size() - 1, {}});
}

void HopLog::end(Hop&, HopValues* results) noexcept {
  const Frame f = std::move(open_.back());
  open_.pop_back();
  std::string& line = lines_[f.line];
  line += results ? "\t\t" : "\traised\t";
  bool first = true;
  for (const Ref<Node>& n : f.nodes) {
    line += (first ? "" : ";") + std::string(n->name()) + "#" + std::to_string(n->sequence()) + ">";
    first = false;
    for (size_t i = 0; i < n->next_edges().size(); ++i) {
      const Edge& e = n->next_edges()[i];
      line += (i ? "," : "") + std::string(e.node ? e.node->name() : "none");
    }
  }
}

void HopLog::node_made(Node& n) {
  if (n.sequence() != Node::kLast && !open_.empty()) open_.back().nodes.push_back(Ref<Node>(&n));
}

void HopLog::node_begin(Node& n) {
  lines_.push_back(std::to_string(open_.size()) + '\t' + n.name() + "\tbackward_node");
  open_.push_back({lines_.size() - 1, {}});
}
void HopLog::node_end(Node&) noexcept { open_.pop_back(); }

std::vector<std::string> HopLog::take() { return std::exchange(lines_, {}); }

}  // namespace peel::core
