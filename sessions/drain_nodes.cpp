#include "sessions/drain_nodes.h"

namespace peel {
namespace {

// columns of table node
enum { kEvent = 1, kName, kSequence, kThread, kTopological, kVariable, kOutput, kFound };

Cell sql(int64_t v) { return v == kNullCell ? Cell() : Cell(v); }

}  // namespace

NodeBook::Entry& NodeBook::mention(uint64_t address, uint64_t sequence_nr, uint32_t event) {
  Entry& e = entries_[address];
  if (e.node && e.sequence_nr == sequence_nr) return e;
  e = {};
  e.node = ++ledger_.nodes, e.sequence_nr = sequence_nr;
  ledger_.batch()[Table::kNode].add(e.node, kNullCell, kNullCell, sequence_nr, kNullCell, kNullCell, kNullCell, kNullCell, cell(event));
  return e;
}

uint32_t NodeBook::at(uint64_t address, uint64_t sequence_nr, uint32_t event) { return address ? mention(address, sequence_nr, event).node : 0; }

uint32_t NodeBook::report(const wire::Node& n, const wire::Edge* edges, uint32_t name, uint32_t event) {
  const uint32_t variable = tensors_.at(n.variable, event);
  Entry* e = &mention(n.node, n.sequence_nr, event);
  if (e->reported) {
    if (n.sequence_nr != UINT64_MAX ? e->thread == n.thread_id : e->variable == variable) return 0;
    entries_.erase(n.node);  // the address was used again, by another thread or by the accumulator of another leaf
    e = &mention(n.node, n.sequence_nr, event);
  }
  e->reported = true;
  e->variable = variable;
  e->thread = n.thread_id;
  const uint32_t id = e->node;
  const int64_t made_in = n.found_late ? kNullCell : cell(event);
  if (int64_t* row = ledger_.pending_node(id)) {
    row[kEvent] = made_in;
    row[kName] = cell(name);
    row[kThread] = static_cast<int64_t>(n.thread_id);
    row[kTopological] = static_cast<int64_t>(n.topological_nr);
    row[kVariable] = cell(variable);
  } else {
    ledger_.batch().add(Small::kNodeFill, {int64_t{id}, sql(made_in), sql(cell(name)), static_cast<int64_t>(n.sequence_nr), static_cast<int64_t>(n.thread_id),
                                           static_cast<int64_t>(n.topological_nr), sql(cell(variable))});
  }
  for (uint32_t i = 0; i < n.edges; ++i) {
    const uint32_t next = at(edges[i].node, edges[i].sequence_nr, event);
    ledger_.batch()[Table::kEdge].add(id, i, cell(next), next ? int64_t{edges[i].input} : kNullCell);
  }
  return id;
}

uint32_t NodeBook::saving(const wire::Saved& s, uint32_t event) {
  Entry& e = mention(s.node, s.sequence_nr, event);
  if (s.number < e.saved) return 0;
  e.saved = s.number + 1;
  return e.node;
}

void NodeBook::set_output(uint32_t node, uint32_t tensor) {
  if (!tensor) return;
  if (int64_t* row = ledger_.pending_node(node)) {
    row[kOutput] = tensor;
  } else {
    ledger_.batch().add(Small::kNodeOutput, {int64_t{node}, int64_t{tensor}});
  }
}

}  // namespace peel
