// Which autograd node is it? Turns (address, sequence number) into node ids, and writes nodes and edges.
//
// Threads number their nodes each by itself, so an address that is used again may have the same number: what a report says of
// another thread is another node.
// A node that an edge or a run names before it was reported is created at once and filled in later.
// Nodes without a number of their own (AccumulateGrad) are told apart by their variable.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "sessions/drain_ledger.h"
#include "sessions/drain_tensors.h"
#include "tracer/wire/wire.h"

namespace peel {

class NodeBook {
 public:
  NodeBook(Ledger& ledger, TensorBook& tensors) : ledger_(ledger), tensors_(tensors) {}

  /// A Node record that stands in hop `event` (0 = in none). Returns the node, 0 when it was reported before.
  uint32_t report(const wire::Node&, const wire::Edge*, uint32_t name, uint32_t event);
  void set_output(uint32_t node, uint32_t tensor);
  /// The node of a Saved record, 0 when that variable was reported before.
  uint32_t saving(const wire::Saved&, uint32_t event);
  /// The node at that address; made when it was never reported.
  uint32_t at(uint64_t address, uint64_t sequence_nr, uint32_t event);

 private:
  struct Entry {
    uint32_t node = 0;
    uint32_t variable = 0;
    uint64_t sequence_nr = 0, thread = 0;  // thread: autograd's number of the one that made it, once reported
    bool reported = false;
    uint32_t saved = 0;  // variables that were reported
  };
  Entry& mention(uint64_t address, uint64_t sequence_nr, uint32_t event);

  Ledger& ledger_;
  TensorBook& tensors_;
  std::unordered_map<uint64_t, Entry> entries_;
};

}  // namespace peel
