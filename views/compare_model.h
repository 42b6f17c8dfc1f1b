// What the Compare panel shows, computed from a finished comparison without ImGui: rows folded as the reader opened
// them, the layers of both sides in the same columns, and what differs in words. Rows are made when they are in sight.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sessions/diff.h"
#include "views/context.h"
#include "views/theme.h"
#include "views/words.h"

namespace peel::views {

/// One place of a side's strip; a column holds the layers of one family.
struct CompareCell {
  std::string key;
  theme::Mark mark = theme::Mark::kAbsent;
  bool differs = false;  // underlined
};

struct CompareHalf {
  EventId call;                    // 0 = nothing on this side
  std::vector<CompareCell> cells;  // one a column
  bool composite = false;
  uint64_t hops = 0;
};

struct CompareRow {
  size_t index = 0;                // in Diff::rows; of a group: its first
  uint32_t calls = 1;              // more: as many calls in a row that are the same
  DiffState state = DiffState::kSame;
  int depth = 0;
  bool expandable = false, expanded = false;
  std::string name, line;          // `view`, ":22"; of a group: "randn, 3 times" or "12 calls"
  CompareHalf half[2];
  std::string what;                // "AutogradCPU excluded by inference_mode"
  bool repeats = false;            // the same words as the difference before
};

/// What is compared, as the reader chose it or as it follows from the session; session null: nothing yet.
struct CompareChoice {
  DiffSide side[2];
  std::string name[2];             // "no_grad", "a.peel"
  bool ready() const { return side[0].session && side[1].session; }
};
/// May look at every top-level call of the session.
CompareChoice choose_sides(const Session*, const CompareSets&);

class CompareModel {
 public:
  void reset() { *this = CompareModel(); }
  /// `headline`: diff_headline of the two, which takes too long for a frame.
  void set(CompareChoice, Diff, const std::string& headline);
  bool filled() const { return filled_; }
  const Diff& diff() const { return diff_; }
  const CompareChoice& choice() const { return choice_; }
  const Parts& headline() const { return headline_; }  // the sides' names are strong
  const std::string& summary() const { return summary_; }  // "0 of 4 calls the same; 19 and 14 hops"
  /// "0 nodes, nothing saved, 61.4 µs", and what it holds at its end where the other holds more or less; below a side's name.
  std::string facts(int side) const;
  /// What a call took and launched, all that is inside counted: "Allocates 4.0 KiB on cpu; launches `fill` twice"; "" = not recorded.
  std::string effects(int side, EventId call) const;
  /// "kernels are not compared: the left recording has no work of a GPU"
  const std::vector<std::string>& not_compared() const { return not_compared_; }
  const std::vector<theme::Family>& columns() const { return columns_; }

  size_t rows() const { return items_.size(); }
  const CompareRow& row(size_t);                  // kept until something is opened or closed
  /// False: nothing to open or close there.
  bool set_expanded(size_t row, bool expanded);
  /// Index of the row's parent; SIZE_MAX = at the top.
  size_t parent(size_t row) const;
  /// Opens what is above a row of the diff; its place in rows().
  size_t reveal(size_t index);
  /// The row of the diff whose call is nearest above this hop of a side; SIZE_MAX = none.
  size_t find(int side, EventId) const;
  /// "difference 3 of 9"; 0 when the row is none.
  size_t difference_number(size_t index) const;
  size_t differences() const { return differences_.size(); }

 private:
  struct Item {
    size_t index;
    uint32_t calls;
  };
  void rebuild();
  bool opens_at_first(const DiffRow&) const;
  CompareRow make_row(const Item&) const;
  CompareHalf make_half(int side, EventId call, const std::vector<LayerCause>&) const;
  const Session& session(int side) const { return *choice_.side[side].session; }

  CompareChoice choice_;
  Diff diff_;
  bool filled_ = false;
  Parts headline_;
  std::string summary_;
  std::vector<std::string> not_compared_;
  std::vector<theme::Family> columns_;
  std::vector<Item> items_;
  std::vector<size_t> differences_;
  std::unordered_set<size_t> toggled_;   // rows that are not as they are at first
  std::unordered_map<size_t, CompareRow> made_;
};

}  // namespace peel::views
