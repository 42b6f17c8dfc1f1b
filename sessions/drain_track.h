// One traced thread: turns its records, in order, into rows. Keeps the stack of hops that are open now.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sessions/drain_ledger.h"
#include "sessions/drain_process.h"
#include "tracer/wire/wire.h"

namespace peel {

class Track {
 public:
  /// `thread`: id of the row, which exists already; `os_id`: the operating system's id of the thread.
  Track(Ledger& ledger, Process& process, uint32_t thread, uint32_t os_id) : ledger_(ledger), process_(process), thread_(thread), os_id_(os_id) {}

  /// One record of `words` words, already known to lie within the ring.
  void consume(const uint64_t* at, wire::Head head);
  /// The thread ended. What it left open stays open.
  void close();
  uint32_t thread() const { return thread_; }
  size_t open_hops() const { return frames_.size(); }
  uint32_t innermost() const { return frames_.empty() ? 0 : frames_.back().event; }  // hop that is open; 0 = none

 private:
  struct Frame {
    uint32_t event;
    uint32_t flags;
    const Process::Op* op;
    uint32_t op_id;
    bool redispatch;
    size_t chain_arguments;  // the arguments of its call chain begin here in arguments_
    size_t arguments, writes, outputs, saved;  // its own begin here
  };
  /// A write that is not yet known to be the one of its chain.
  struct PendingWrite {
    uint64_t impl;
    uint32_t event, tensor, storage, before, after;
    bool changed() const { return before != after; }
  };
  struct PendingOutput {
    uint32_t node;
    uint64_t impl;
  };
  /// A saved output: the result that it is may still come.
  struct PendingSaved {
    wire::Saved record;
    wire::Tensor tensor;
    uint32_t node, meta;
  };
  struct OpenSpan {
    uint32_t span, begin_event, before;  // before: this thread's last hop when it opened
    uint64_t batch;                      // its row is in this batch ...
    size_t row;                          // ... here
    bool backward;
    uint32_t mode;                       // wire::ModeFamily, 0 = no mode
  };

  void begin(const wire::Begin&);
  void end(const wire::End&);
  void pop(Frame&);
  void tensor(const uint64_t* at, wire::Head);
  void value(const uint64_t* at, wire::Head);
  void write(const wire::Write&);
  void error(const wire::Error&);
  void changed(const wire::Changed&);
  void node(const uint64_t* at, wire::Head);
  void saved(const uint64_t* at, wire::Head);
  void finish_saved(const PendingSaved&, uint32_t event);
  void node_run(const wire::NodeRun&);
  void keep_history();
  void memory(const wire::Allocation&);
  void span_begin(const wire::SpanBegin&);
  void span_end(const wire::SpanEnd&);
  void set_span(OpenSpan&, uint32_t end_event, int64_t end_ns);
  uint32_t argument_name(uint32_t a) const;
  int64_t time(uint64_t ticks);
  Description describe(const wire::Tensor&, const uint64_t* sizes);
  MeetingPlace place_of(const wire::Tensor&);
  const char* value_text(const wire::Value&, const uint64_t* payload, uint32_t words);

  Ledger& ledger_;
  Process& process_;
  const uint32_t thread_, os_id_;
  HopHistory* history_ = nullptr;  // while GPU activity is reported
  uint32_t last_hop_ = 0;
  int64_t last_ns_ = 0;
  std::vector<Frame> frames_;
  std::vector<ArgumentSeen> arguments_;
  std::vector<PendingWrite> writes_;
  std::vector<PendingOutput> outputs_;
  std::vector<PendingSaved> saved_;
  std::vector<OpenSpan> spans_;
  size_t started_spans_ = 0;  // the first so many of spans_ have a begin_event
  std::string value_;
};

}  // namespace peel
