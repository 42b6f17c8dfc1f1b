// What the Why panel draws for one hop, computed from a Session without ImGui: the sentence, the onion's boxes
// and lines, and the key matrix. Plain data; make it again when the hop or the session's generation changes.
#pragma once
#include <string>
#include <vector>

#include "sessions/why.h"
#include "views/words.h"

namespace peel::views {

/// How a layer looks. Line style says it, never colour.
enum class Look : uint8_t { kRan, kComposite, kFellThrough, kExcluded, kMasked, kBelow, kMissing, kNotInSet };

/// Calls of one other operator in a row inside a layer.
struct WhyChip {
  EventId first;
  std::string op;
  uint32_t count = 1;
};

struct WhyLayer {
  std::string key;             // `AutogradCPU`; "no kernel" has the key that was looked up
  Look look = Look::kRan;
  EventId event;               // 0 = did not run: a thin line
  bool current = false;        // the hop that was asked about
  bool raised = false;
  bool open = false;           // never returned (yet)
  bool node_run = false;       // a node's run in backward: no dispatch, `key` is the node's name
  std::string gloss;           // "records the backward graph"
  std::string entry;           // "call, autograd kernel, VariableType_2"
  std::string reason;          // of a line: "skipped: excluded, autocast is off"
  std::vector<NodeId> nodes;
  std::string node_text;       // `AddBackward0`, or "AddBackward0 and 2 more"
  uint32_t nodes_inside = 0;
  std::string writes;          // "t37 version 0 to 1"
  std::vector<WhyChip> chips;
  std::string own, total;      // µs
  std::string hover;           // more words, one fact a line
  bool ran() const { return bool(event); }
  bool has_facts() const { return !nodes.empty() || nodes_inside || !writes.empty() || !chips.empty() || raised || open; }
};

enum class Cell : uint8_t { kNone, kHas, kExcluded, kMasked, kWins };

struct WhyColumn {
  KeyId key = 0;
  std::string name;
  Look look = Look::kNotInSet;
  bool won = false;            // the key that this hop landed at
  std::string hover;
  int relevance = 0;           // higher = folded later
};
struct WhyMatrixRow {
  const char* sign = "";       // "∪", "+", "−", "&", "=" or ""
  std::string label, note;
  std::string set_text;        // for the hover: `DispatchKeySet(CPU, AutogradCPU)`
  uint64_t raw = 0;
  bool result = false, greyed = false;
  uint32_t folded = 1;         // arguments that share this row
  std::string hover;           // what was folded away
  std::vector<Cell> cells;     // one per column
};

struct WhyModel {
  EventId event, call;
  std::string title;           // `aten::relu_`
  std::string where;           // "hop 212, train_step.py:17"
  Parts sentence;
  bool live = false;           // the recording grows: what is open may still come back
  std::string error;           // text of the exception that left the hop
  std::vector<std::pair<std::string, std::string>> remarks;  // of a failed look-up: "wanted", "available", ... and what
  bool explained = true;
  bool missing = false;        // a look-up that failed
  std::vector<WhyLayer> layers;
  std::string chosen;          // "How AutogradCPU was chosen"
  std::vector<WhyColumn> columns;
  std::vector<WhyMatrixRow> rows;
  uint32_t never_involved = 0;
};

WhyModel make_why_model(const Session&, const Why&);

/// Which columns to draw when only `room` fit: the most relevant ones, in their order.
std::vector<size_t> columns_that_fit(const WhyModel&, size_t room);

/// One line of "why not another key?".
struct WhyNotKey {
  KeyId key;
  std::string name;
};
/// Runtime keys whose name holds `filter` (any case), highest priority first; the hop's own key is left out.
std::vector<WhyNotKey> why_not_keys(const Session&, KeyId own, std::string_view filter);

}  // namespace peel::views
