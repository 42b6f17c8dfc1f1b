// One operator as a recording has it: its dispatch table with rule and place of registration per slot, in every version, what is registered, and
// what PyTorch's own lists say of it. Feeds `peel op` and the Operator panel; and what a failed look-up could have found.
#pragma once
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel {

struct OpReport {
  struct Cell {
    KernelId kernel;         // 0 = none
    std::string rule, place; // "autograd kernel", "VariableType_2.cpp:6900"; "missing" and "" for none
    bool fallthrough = false, stale = false;
    bool operator==(const Cell&) const = default;
  };
  /// Slots that hold the same in every version; own kernels by priority, then fallbacks, then fallthroughs; the key for the CPU leads its row.
  struct Row {
    std::vector<KeyId> keys;  // 0 = Undefined
    std::vector<Cell> cells;  // one a version
    bool differs = false;     // between versions
  };
  /// A registration of any version, by key; `hidden`: another one at the same key is in force.
  struct Registered {
    KeyId key;
    KernelId kernel;
    std::string what, place;  // "kernel", "fallthrough", ...
    EventId since;
    EventId until;            // the version that no longer has it, 0 = it is there to the end
    bool hidden = false, later = false;
  };
  OpId op;
  std::vector<EventId> versions;
  std::vector<Row> rows;
  std::vector<Registered> registered;
  bool registrations_known = false;
  OpSource source;
};
/// `aten::add.Tensor` or `add.Tensor`; else an error that names what comes near.
Result<OpId> find_op(const Session&, const std::string& name);
OpReport op_report(const Session&, OpId);
/// `keys` as people read them: `AutogradCPU`, `14 keys: AutogradCPU AutogradCUDA ...`.
std::string key_list(const Session&, const std::vector<KeyId>&, size_t most);
std::string op_text(const Session&, const OpReport&);

/// What a look-up that failed could have found.
struct MissingKernel {
  KeyId wanted = 0;                     // 0 = Undefined: no key was left
  std::vector<KeyId> available;         // keys whose slot has a kernel of the operator (no fallback, no fallthrough)
  struct Near {
    KeyId key;
    bool same_backend;                  // else the same layer of another backend
  };
  std::vector<Near> near;
  std::vector<KeyId> would_serve;       // where a registration would have filled the slot: the key itself, then aliases
  std::vector<OpReport::Registered> registered;
};
MissingKernel missing_kernel(const Session&, EventId);
/// "wanted" and what, "available" and what, ...: the lines of `peel why` and of the Why panel.
std::vector<std::pair<std::string, std::string>> missing_lines(const Session&, const MissingKernel&);

}  // namespace peel
