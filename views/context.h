// What every panel sees: the session, the one selection that all follow, and the command table.
// A panel reads this and emits commands or `select`; it owns no data of the trace.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sessions/diff_scope.h"
#include "sessions/live_text.h"
#include "sessions/session.h"
#include "views/command.h"

namespace peel::views {

/// What the running program is doing, told by app/ (views never see a process).
struct ProgramState {
  enum class Run : uint8_t { kNone, kBuildingAgent, kRunning, kPaused, kEnded } run = Run::kNone;
  std::string title;       // `train_step.py`
  std::string message;     // "building the agent for PyTorch 2.13.0: 2 of 4", "exit status 0"
  float progress = -1;     // 0..1, -1 = unknown
  int exit_code = 0;
  bool can_run_again = false;
};

/// What the Breakpoints panel wants done; app/ does it in the next frame.
struct LiveWish {
  enum class Kind : uint8_t { kAdd, kRemove, kEnable, kDisable, kChange } kind;
  uint32_t id;       // of the breakpoint
  std::string text;  // kAdd: terms; kChange: as wire::Ask::kChange has it
};
/// What a program that stands has answered.
struct Standing {
  bool asking = false;
  std::vector<StandingValue> values;
  std::vector<std::vector<std::string>> locals, threads;  // rows of wire::Ask::kLocals, kThreads
  std::string values_note, locals_note;                   // why there are none
};
/// Breakpoints, and where the program stands, told by app/.
struct LiveView {
  std::vector<LiveControl::Row> breakpoints;
  std::optional<Stop> stop;       // set once the session shows it
  std::string reason;             // "breakpoint 1, op:addmm, hit 3"
  Standing standing;
  bool pausing = false;           // asked to, not yet at a hop
  std::string note;               // why the last breakpoint could not be set
  uint64_t added = 0;             // grows with each one that could
  std::vector<LiveWish> wanted;
  struct Said { std::string text, answer; bool done; };
  std::vector<Said> said;         // what was asked to be changed at this stop, and what the program answered
};

/// What Compare compares. Nothing set: two whole sessions, or lines of one session that ran under several modes.
struct CompareSets {
  const Session* other = nullptr;    // the second session, right
  std::optional<DiffScope> a, b;     // "Set A", "Set B": left and right
  uint64_t changes = 0;              // grows with each change
};

class MemorySource;

class Context {
 public:
  Context();

  const Session* session = nullptr;  // null: nothing open yet
  CommandTable* commands = nullptr;
  ProgramState program;

  // ---- selection
  EventId selected;                  // the row that is marked
  /// The hop whose state all panels show: a parent means "after its last child".
  EventId effective() const { return session && selected ? session->last(selected) : selected; }
  /// Selects, remembers the old place for Back, and asks panels to bring it into sight once.
  void select(EventId e);
  void back();
  void forward();
  /// Another session is shown: no selection, no history, no filter.
  void forget();
  bool can_go_back() const { return at_ > 0; }
  bool can_go_forward() const { return at_ + 1 < history_.size(); }
  uint64_t selection_changes = 0;    // grows with each select: panels compare and scroll into sight once

  // ---- shared state of the window
  NodeId node;                       // selected autograd node, follows `selected` when it made one
  TensorId tensor;                   // shown by the Tensor panel; 0 = first result of the selection
  std::string filter;                // the Trace panel's filter text
  bool dark = true;
  float scale = 1;
  std::string focus_field;           // "filter", "find", "find time", "edit", "break": the panel that has it takes the focus and clears this
  /// The Program panel's edits, told to app/, which alone writes files. Empty path: nothing is edited.
  struct Edit { std::string path, text; bool dirty = false; } edit;
  std::string notice;                // one line for the status bar; cleared by the next action
  CompareSets compare;
  std::shared_ptr<MemorySource> memory;  // never null: the allocator's history, read when a panel wants it
  LiveView live;
  std::string open_path;             // Program panel: file to show; "" = that of the selection

 private:
  std::vector<EventId> history_;
  size_t at_ = 0;
};

}  // namespace peel::views
