// Nodes of the autograd graph as records. Fields are read as they are: asking for a view's node would make one.
#include "core/autograd/special_nodes.h"
#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

constexpr size_t kMaxWalk = 4096;   // nodes recorded at one place; a graph made before the recording may be large
constexpr size_t kMaxSeen = 1 << 16;

bool see(Thread& t, const core::Node& n) {
  if (was_seen(t, n)) return false;
  if (t.seen.size() >= kMaxSeen) t.seen.clear();  // told twice is no harm
  t.seen[&n] = n.sequence();
  return true;
}

void write(Thread& t, const core::Node& n, const core::TensorImpl* output, bool made_here) {
  std::vector<wire::Edge> edges;
  for (const core::Edge& e : n.next_edges()) {
    const core::Node* next = e.node.get();
    edges.push_back({reinterpret_cast<uintptr_t>(next), next ? next->sequence() : 0, e.input, 0});
    if (edges.size() == 2000) break;
  }
  wire::Node r{};
  r.head = {wire::RecordKind::kNode, 0, intern(n.name())};
  r.node = reinterpret_cast<uintptr_t>(&n);
  r.sequence_nr = n.sequence();
  r.topological_nr = n.topological();
  r.thread_id = t.number;
  if (const auto* leaf = dynamic_cast<const core::AccumulateGrad*>(&n)) r.variable = identity(&leaf->variable().impl());
  r.output = identity(output);
  r.edges = static_cast<uint32_t>(edges.size());
  r.found_late = !made_here;
  put_plain(t, r, edges.data(), edges.size() * sizeof(wire::Edge));
}

}  // namespace

bool was_seen(const Thread& t, const core::Node& n) {
  const auto found = t.seen.find(&n);
  return found != t.seen.end() && found->second == n.sequence();
}

void put_node(Thread& t, const core::Node& first, const core::TensorImpl* output, bool made_here) {
  if (!see(t, first)) return;
  write(t, first, output, made_here);
  std::vector<const core::Node*> todo;
  const auto add = [&](const core::Node& n) {
    for (const core::Edge& e : n.next_edges()) {
      if (e.node && see(t, *e.node)) todo.push_back(e.node.get());
    }
  };
  add(first);
  for (size_t written = 1; !todo.empty() && written < kMaxWalk; ++written) {
    const core::Node* n = todo.back();
    todo.pop_back();
    write(t, *n, nullptr, false);
    add(*n);
  }
}

void put_node_run(Thread& t, const core::Node& n, uint64_t graph_task) {
  put_node(t, n, nullptr, false);
  put_plain(t, wire::NodeRun{{wire::RecordKind::kNodeRun, 0, 0}, reinterpret_cast<uintptr_t>(&n), n.sequence(), graph_task});
}

}  // namespace peel::embedded
