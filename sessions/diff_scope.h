// What part of a session is compared: all of it, an iteration, a module's call, a stretch under one mode, hops.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sessions/result.h"
#include "sessions/session.h"

namespace peel {

/// Hops first to last of one thread. first 0 = the whole session, all threads.
struct DiffScope {
  std::string name;  // as it is written on the command line: "iteration:2", "mode:no_grad", "module:net.0#3", "12-40"
  ThreadId thread;
  EventId first, last;
  bool whole() const { return !first; }
  bool operator==(const DiffScope&) const = default;
};

/// Understands a name. `12` is hop 12 with all that is inside. Error: what is wrong, and which names there are.
Result<DiffScope> parse_scope(const Session&, std::string_view text);

/// Stretches in which lines ran the same operators that they also ran under another mode: "mode:grad", "mode:no_grad", "mode:inference_mode",
/// a second one of a kind with "#2"; calls of other lines at their ends are left out. In order.
std::vector<DiffScope> mode_scopes(const Session&);
/// The pair of them that tells most: no_grad against inference_mode, else the first two of different modes. False: none.
bool mode_pair(const Session&, DiffScope* left, DiffScope* right);

/// The smallest stretch with a name around a hop: a mode's, an iteration, else its top-level call.
DiffScope scope_around(const Session&, EventId);

/// "grad", "no_grad", "inference_mode", with the thread's other modes behind it: "grad, autocast cpu".
std::string mode_of(const Session&, EventId);
/// "hops 43 to 61, grad_modes.py:22 to 25"
std::string scope_text(const Session&, const DiffScope&);

}  // namespace peel
