// Saved variables in words, and what became of them between the forward and the backward.
#pragma once
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel {

/// `_saved_self`, `saved_tensors[1]`.
std::string saved_name(const Saved&);
/// "packed by a hook", "an output", ...: what its flags say; "" = nothing.
std::string saved_note(const Saved&);

/// A saved variable and the first write that raised its version afterwards: backward refuses it.
struct ChangedSaved {
  Saved saved;
  EventId made;        // the hop that made the node, or first met it
  WriteRow write;      // the first write since
  int64_t version;     // at the last write up to `until`
};
/// Of one node, by writes of hops before `until` (0 = the end of the recording).
std::vector<ChangedSaved> changed_since_saved(const Session&, NodeId, EventId until);
/// What the nodes of a hop's onion save, a line each; of a node's run that raised, what was written in between. "" = nothing.
std::string saved_lines(const Session&, const std::vector<NodeId>& made, EventId hop);

}  // namespace peel
