// What the Trace panel shows, as data: a tree folded by what the user knows (thread > iteration > module > line >
// call > hop), of which only opened parts exist. Nothing here costs more than what is open and in sight: groups
// are built when they are opened, at most kChunk calls at a time, and totals are summed in slices.
//
// Lines nest as the user's own functions call each other; a level that would hold one thing only is left out.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sessions/session.h"
#include "views/theme.h"

namespace peel::views {

/// A stretch of the main thread's calls that repeats, or what is around it ("set-up", "step 0").
struct TraceStretch {
  std::string name;
  EventId first, last;  // first and last call (depth 0) in it
  bool operator==(const TraceStretch&) const = default;
};

/// One place of a row's strip. A column holds the layers of one family.
struct StripCell {
  KeyId key = 0;                             // the layer whose tag is drawn
  theme::Mark mark = theme::Mark::kAbsent;
  uint32_t layers = 0;                       // more than one: drawn as a stack
};

struct TraceRow {
  enum class Kind : uint8_t { kThread, kStretch, kChunk, kModule, kLine, kCall, kRedispatch, kOther, kNodeRun, kMissing } kind;
  int depth = 0;
  bool expandable = false, expanded = false;
  uint64_t key = 0;          // identifies the row as long as the session is open
  EventId event;             // what clicking it selects: the hop, or the last call of a group
  EventId first, last;       // ids it covers
  std::string name;
  std::string note;          // ":17", ":5 to :13"
  std::string detail;        // "[8,16]" of a hop, "42 hops" of a group
  std::vector<StripCell> strip;   // one for each of columns(); empty for groups
  bool composite = false;    // a kernel that only calls other operators
  std::string path;          // layers in words, for the tip: "AutogradCPU, ADInplaceOrView, CPU"
  Nanoseconds time = -1;     // in operators; -1 = unknown yet
  bool running = false;      // not returned (yet)
  std::string node;          // made by this call itself
  uint32_t inside = 0;       // nodes made below it
  std::string error;         // raised text
  std::string changed;       // "changed: exclude AutogradCPU", by hand while it stood
  bool matches = true;       // false: only shown as the way to a match of the filter
};

class TraceModel {
 public:
  static constexpr size_t kChunk = 20000;  // calls that one group lists before it is cut into chunks
  /// Columns of the strip, left to right.
  enum Column { kPython, kFunctorch, kAutocast, kAutograd, kView, kBackend, kColumns };

  void reset(const Session*);
  /// Takes in what the session has grown by and does up to `budget` of background work. True: more is left.
  bool update(Nanoseconds budget);
  /// The main thread's iterations and what is around them, in order, without gaps; none = no such level. What is
  /// open stays open where the row still exists. True: rows that were there moved.
  bool set_stretches(std::vector<TraceStretch>);

  uint64_t rows() const { return root_.rows; }
  std::vector<TraceRow> rows(uint64_t from, uint64_t n);
  /// Opens or closes the row at an index. False: there is nothing to open.
  bool set_expanded(uint64_t row, bool expanded);
  std::optional<uint64_t> parent_row(uint64_t row) const;
  /// Opens everything above the hop; its row. nullopt: the filter hides it.
  std::optional<uint64_t> reveal(EventId);
  std::optional<uint64_t> row_of_key(uint64_t key) const;

  /// Only hops in `ids` (ascending) and the way to them; nullopt: everything. Few matches are all opened.
  void set_matches(std::optional<std::vector<EventId>> ids);
  bool filtered() const { return matches_.has_value(); }

  /// Which families have a column, in order.
  const std::vector<Column>& columns() const { return columns_; }
  Nanoseconds longest() const { return longest_; }  // scale of the time bars
  const Session* session() const { return session_; }

 private:
  struct Node;
  struct Item {
    TraceRow::Kind kind;
    uint32_t id = 0;           // thread, stretch, span, stack, chunk or event
    EventId first, last_root;  // first and last call at depth 0 (of a hop: itself)
    uint32_t chain = 0;        // frames of the user's that are above it
    uint32_t span = 0;         // module it is in
    ThreadId thread;
    bool tail = false;         // may grow with the session
    std::unique_ptr<Node> open;
    // Totals, summed root by root as far as `summed` says.
    EventId summed;            // last root that is in
    bool done = false;
    uint32_t hops = 0, nodes = 0, raised = 0;
    Nanoseconds time = 0;
    uint64_t key() const { return uint64_t(kind) << 60 | uint64_t(id & 0xfffffff) << 32 | first.value; }
  };
  struct Node {
    std::vector<Item> items;
    uint64_t rows = 0;  // of all items and what is open in them
  };
  struct Detail { std::string shape, path, node; std::vector<StripCell> strip; bool composite = false; };
  struct Place { std::vector<std::pair<Node*, size_t>> path; };

  std::vector<Item> build_top() const;
  std::vector<Item> build(const Item& of);
  std::vector<Item> group(const Item& of, EventId first, EventId last_root);
  std::vector<Item> hops_below(EventId) ;
  std::vector<Item> chunks(const Item& of, size_t roots) const;
  void drop_unmatched(std::vector<Item>&) const;
  void open_item(Item&);
  void rebuild();
  void rebuild_node(Node&, std::vector<Item> fresh, bool all);
  uint64_t recount(Node&);
  bool place(uint64_t row, Place&) const;
  bool find(const Node&, EventId, size_t& index) const;
  void fill(const Item&, const Node* open, int depth, TraceRow&);
  bool sum(Item&, int& steps);
  const Detail& detail(EventId);
  Detail make_detail(const Event&) const;
  const std::vector<StackId>& chain(StackId);
  uint32_t hops_in(ThreadId, EventId first, EventId last) const;
  uint64_t matches_in(ThreadId, EventId first, EventId last) const;
  bool scan(int steps);
  void load_spans();
  std::string line_text(StackId);
  std::string line_note(StackId) const;
  std::string name_of(const Event&) const;

  using Clock = std::chrono::steady_clock;
  const Session* session_ = nullptr;
  uint64_t generation_ = 0;
  Clock::duration spans_cost_{};
  Clock::time_point spans_at_{};
  Node root_;
  std::unordered_set<uint64_t> expanded_;
  std::vector<TraceStretch> stretches_;
  std::vector<Span> spans_;                     // modules, by first hop then id
  std::unordered_map<uint32_t, size_t> span_at_;
  std::unordered_map<uint32_t, std::vector<StackId>> chains_;
  std::unordered_map<uint32_t, Detail> details_;
  std::unordered_map<std::string, std::vector<std::string>> sources_;
  std::vector<std::vector<EventId>> roots_;     // of each thread id
  std::vector<Column> columns_{kAutograd, kView, kBackend};
  std::optional<std::vector<std::vector<EventId>>> matches_;  // of each thread id, ascending
  // Scan over all hops: counts per thread at every 1024th hop, families seen.
  uint32_t scanned_ = 0, families_ = 0;
  std::vector<std::vector<uint32_t>> per_thread_;
  std::vector<uint32_t> thread_count_;
  Nanoseconds longest_ = 0;
  bool sums_left_ = false;
};

}  // namespace peel::views
